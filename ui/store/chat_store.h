// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/export/chat_export.h"
#include "ui/store/import/chat_import.h"
#include "ui/store/store_worker.h"

#include <QHash>
#include <QObject>
#include <QPointer>
#include <QThread>

#include <functional>
#include <memory>

namespace ui {

/// How an export ended.
struct ExportOutcome {
    QString path;
    QString error; ///< a sentence with what to do; empty when the file is on the disk
};

/// The window's side of the chats on disk. Writes return at once; saved() is emitted when they
/// would survive a power cut. Queries are answered by a call of `done` from the event loop, unless
/// `context` is gone by then. A query sees all earlier writes. The destructor waits until
/// everything posted is committed. Thread: UI.
class ChatStore : public QObject {
    Q_OBJECT

public:
    explicit ChatStore(StoreOptions options, QObject* parent = nullptr);
    ~ChatStore() override;

    /// Starts the store; connect to the signals before.
    void open();

    // Questions.

    /// Newest first, without deleted ones.
    void listChats(QObject* context, std::function<void(QList<ChatRecord>)> done);

    /// Messages that contain all words of `text` (at most StoreWorker::kMostHitsOfChat of a chat),
    /// and chats of which only the title does; chats newest first, then messages newest first.
    void
    searchChats(const QString& text, QObject* context, std::function<void(QList<ChatMatch>)> done);

    /// Nothing if there is no such chat.
    void loadChat(ChatId id, QObject* context, std::function<void(std::optional<Chat>)> done);

    /// The unsent draft; `chat` 0 means the chat that is not created yet. loadChat() also gives a
    /// chat's draft.
    void loadDraft(ChatId chat, QObject* context, std::function<void(Draft)> done);

    /// Writes the chat to a file; an old one stays as it was if that fails.
    void exportChat(ChatId id,
                    const ExportRequest& request,
                    QObject* context,
                    std::function<void(ExportOutcome)> done);

    /// Reads the chats of files and folders (see ChatImport) and adds them with their own times.
    /// `progress` is called for every slice; the last one has isOver set. Returning false stops the
    /// import; chats added by then stay. The chats of a slice have their new ids.
    void importChats(const QStringList& paths,
                     QObject* context,
                     std::function<bool(const ImportSlice&)> progress);

    // Writes.

    /// Gives the chat its id and times.
    ChatId createChat(ChatRecord chat);

    void renameChat(ChatId id, const QString& title);
    void setSystemPrompt(ChatId id, const QString& systemPrompt);
    void setSettings(ChatId id, const QJsonObject& settings);
    void setCurrentLeaf(ChatId id, MessageId leaf);
    void setPinned(ChatId id, bool isPinned);
    void setArchived(ChatId id, bool isArchived);

    /// An empty name takes the chat out of its folder.
    void setFolder(ChatId id, const QString& folder);

    /// Hides the chat. The next start removes it; until then restoreChat() restores it.
    void deleteChat(ChatId id);
    void restoreChat(ChatId id);

    /// The same for many chats: reported by chatsDeleted() and listReset(), not one by one.
    void deleteChats(const QList<ChatId>& ids);

    void setDraft(ChatId chat, const Draft& draft);

    /// Adds a message to its chat as the new leaf. Gives it its id, and its time if it has none.
    MessageId appendMessage(StoredMessage message);

    /// Saves the current full state of a streaming message; call it whenever the message grows.
    /// Committed every StoreOptions::commitMs at most.
    void updateMessage(const StoredMessage& message);

    /// Saves the message in its final state and commits it at once.
    void finishMessage(const StoredMessage& message);

    /// Messages, drafts and other changes of chats that a lasting fault keeps from being saved:
    /// quitting now would lose them.
    qint64 unsavedCount() const { return m_unsavedCount; }

signals:
    /// The file is open, or a fault has said why not.
    void opened();

    /// The list has changed completely: query it again.
    void listReset();

    /// A chat is new or changed; deletedMs says whether it is shown.
    void chatChanged(const ui::ChatRecord& chat);

    void chatsDeleted(const QList<qint64>& ids);

    /// The message is on the disk with this many tokens.
    void saved(qint64 messageId, qint64 tokenCount);

    /// Answers that were being written when the program last ended; once a start.
    void recovered(const QList<ui::RecoveredAnswer>& answers);

    void faulted(const ui::StoreFault& fault);

    /// Everything that a lasting fault kept in memory is now on the disk.
    void faultCleared();

    void unsavedCountChanged(qint64 changeCount);

private:
    template <typename Task> void post(Task task);
    template <typename Value, typename Question>
    void ask(QObject* context, std::function<void(Value)> done, Question question);
    void change(ChatId id, std::function<void(ChatRecord&)> change);
    void sendNextUpdate();
    void addChats(QList<Chat>& chats);
    void readOn(const std::shared_ptr<ChatImport>& import,
                QObject* context,
                std::function<bool(const ImportSlice&)> progress);
    qint64 nextId();

    QThread m_thread;
    StoreWorker* m_worker; ///< lives on m_thread, which ends it
    qint64 m_lastId = 0;
    qint64 m_unsavedCount = 0;
    QHash<MessageId, StoredMessage> m_updates; ///< newest ones that the worker has not asked for
    bool m_isUpdateUnderWay = false;
};

} // namespace ui
