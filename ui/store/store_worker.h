// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/sqlite/chat_database.h"

#include <QObject>
#include <QTimer>

#include <functional>

namespace ui {

struct StoreOptions {
    QString path;        ///< of the SQLite file; its folder is made
    int commitMs = 2000; ///< a streaming answer is committed at most this often
    int retryMs = 2000;  ///< first wait after a fault; doubles up to 15 times of it
};

/// The part of ChatStore that lives on the store's thread and owns the file. Records that cannot be
/// saved stay here, appear in every query's result, and are retried. Thread: store, all of it.
class StoreWorker : public QObject {
    Q_OBJECT

public:
    static constexpr int kMostHitsOfChat = 5;

    explicit StoreWorker(StoreOptions options);

    void open();
    void close();

    QList<ChatRecord> chats() const;
    QList<ChatMatch> search(const QString& text) const;
    std::optional<Chat> load(ChatId id) const;

    void putChat(const ChatRecord& chat);

    /// Changes a chat that is known; else does nothing.
    void changeChat(ChatId id, const std::function<void(ChatRecord&)>& change);

    /// A new message becomes the leaf of its chat. Unless it is streaming, it is committed as soon
    /// as everything posted before has been taken.
    void putMessage(const StoredMessage& message, bool isNew);

    /// Chats with all their messages, stored as they are. Emits no signals, because there may be
    /// very many.
    void putWhole(const QList<Chat>& chats);

    /// Those that are known.
    void deleteChats(const QList<ChatId>& ids, qint64 deletedMs);

    /// Of the chat that is not begun yet: 0.
    void putDraft(ChatId chat, const Draft& draft);
    Draft draft(ChatId chat) const;

    void commit();

signals:
    void opened();
    void highestIdFound(qint64 id);
    void listReset();
    void chatChanged(const ui::ChatRecord& chat);
    void saved(qint64 messageId, qint64 tokenCount);
    void recovered(const QList<ui::RecoveredAnswer>& answers);
    void faulted(const ui::StoreFault& fault);
    void faultCleared();
    void unsavedCountChanged(qint64 changeCount);

private:
    void openFile();
    void readList();
    void tidy();
    void touch(ChatRecord& chat);
    void retry();
    void report(const StoreFault& fault);
    void acknowledge(const UnsavedRecords& written);
    qint64 changesAtRisk() const;
    void tellUnsavedCount();

    StoreOptions m_options;
    ChatDatabase m_database;
    QMap<ChatId, ChatRecord> m_chats; ///< all, as they are with what is unsaved
    UnsavedRecords m_unsaved;
    QTimer m_commitTimer;
    QTimer m_retryTimer;
    int m_retryMs = 0;
    bool m_isTidy = false; ///< what the former run left unfinished has been handled
    std::optional<StoreFaultKind> m_lastingFault;
    qint64 m_reportedUnsavedCount = 0;
};

} // namespace ui
