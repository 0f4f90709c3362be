// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"

#include <QCoreApplication>
#include <QMap>
#include <QSqlDatabase>

#include <memory>

struct sqlite3;
class QTemporaryDir;

namespace ui {

/// Records that wait for the next transaction.
struct UnsavedRecords {
    QMap<ChatId, ChatRecord> chats;
    QMap<MessageId, StoredMessage> messages;
    QMap<ChatId, Draft> drafts; ///< chat 0 is the one not created yet; an empty draft is removed

    bool isEmpty() const { return chats.isEmpty() && messages.isEmpty() && drafts.isEmpty(); }
};

/// The file of the chats and its one connection: WAL, synchronous FULL, locked for this program
/// alone, treated as foreign (defensive mode, untrusted schema, no triggers, no views, checked
/// before use). A file that cannot be read is renamed, never overwritten. Thread: the one that
/// calls open(); destroyed there too.
class ChatDatabase {
    Q_DECLARE_TR_FUNCTIONS(ChatDatabase)

public:
    explicit ChatDatabase(QString path);
    ~ChatDatabase();
    ChatDatabase(const ChatDatabase&) = delete;
    ChatDatabase& operator=(const ChatDatabase&) = delete;

    /// Opens the file, or opens it again. Returns all faults that the user has to know about; a
    /// lasting fault comes last.
    QList<StoreFault> open();
    void close();

    /// Whether write() can succeed.
    bool isWritable() const { return m_isWritable; }

    /// Whether connection() can be read, perhaps as a private copy of a file on a read-only disk.
    bool isReadable() const { return m_isReadable; }

    bool hasFullText() const { return m_hasFullText; }

    QSqlDatabase connection() const;

    /// Writes everything in one transaction, which is then on the disk. On a fault, nothing is
    /// written.
    std::optional<StoreFault> write(const UnsavedRecords& records);

    /// Removes deleted chats and marks unfinished answers as recovered; returns these. None also
    /// when the disk refused, which the next start will try again.
    QList<StoredMessage> tidy();

private:
    std::optional<StoreFault> tryWrite(const UnsavedRecords& records);
    bool writeDrafts(const QMap<ChatId, Draft>& drafts);
    bool remakeSearchTable();
    std::optional<StoreFault> prepareFolder() const;
    std::optional<StoreFault> openFile();
    std::optional<StoreFault> check();
    std::optional<StoreFault> checkOrigin(int version);
    std::optional<StoreFault> migrate(int version);
    bool applySteps(int version);
    bool keepCopy(int version);
    bool run(const QString& statement);
    std::optional<QVariant> firstValue(const QString& statement);
    void harden();
    void openCopy();
    void closeUntouched();
    std::optional<StoreFault> setAside(const StoreFault& reason, QList<StoreFault>& faults);
    StoreFault currentFault() const;
    StoreFault faultOf(int code, const QString& details) const;
    sqlite3* handle() const;

    QString m_path;
    QString m_connectionName;
    std::unique_ptr<QTemporaryDir> m_copyFolder;
    bool m_isWritable = false;
    bool m_isReadable = false;
    bool m_hasFullText = false;
    bool m_isKnownDamaged = false; ///< damage found while writing that the quick check had not seen
};

} // namespace ui
