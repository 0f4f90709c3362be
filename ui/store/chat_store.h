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

/// The window's side of the chats on disk. Writes return at once and are on their way; saved()
/// comes when they survive a power cut. Questions are answered by a call of `done` from the event
/// loop, unless `context` is gone by then. What was asked later sees what was written before. The
/// destructor waits until what was posted is committed. Thread: UI.
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

    /// What the user wrote and did not send; `chat` 0: into the chat that is not begun yet. That of
    /// another chat comes with loadChat().
    void loadDraft(ChatId chat, QObject* context, std::function<void(Draft)> done);

    /// Writes the chat to a file; an old one stays as it was if that fails.
    void exportChat(ChatId id,
                    const ExportRequest& request,
                    QObject* context,
                    std::function<void(ExportOutcome)> done);

    /// Reads the chats of files and folders (see ChatImport) and adds them with their own times,
    /// whose `progress` is told of every part; the last one says isOver. False stops it: what has
    /// come by then stays. The chats of a slice have their new ids.
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

    /// Hides the chat. The next start removes it; until then restoreChat() brings it back.
    void deleteChat(ChatId id);
    void restoreChat(ChatId id);

    /// The same for many at once: told by chatsDeleted() and listReset(), not one by one.
    void deleteChats(const QList<ChatId>& ids);

    void setDraft(ChatId chat, const Draft& draft);

    /// Adds a message to its chat as the new leaf. Gives it its id, and its time if it has none.
    MessageId appendMessage(StoredMessage message);

    /// Takes a streaming message as it is now, whole; call it as often as it grows. Committed every
    /// StoreOptions::commitMs at most.
    void updateMessage(const StoredMessage& message);

    /// Takes the message in its final state and commits it at once.
    void finishMessage(const StoredMessage& message);

    /// Messages that a lasting fault keeps from the disk: what quitting now would lose.
    qint64 unsavedCount() const { return m_unsavedCount; }

signals:
    /// The file is open, or a fault has said why not.
    void opened();

    /// The list is another one: ask again.
    void listReset();

    /// A chat is new or changed; deletedMs tells whether it is to be shown.
    void chatChanged(const ui::ChatRecord& chat);

    void chatsDeleted(const QList<qint64>& ids);

    /// The message is on the disk with this many tokens.
    void saved(qint64 messageId, qint64 tokenCount);

    /// Answers that were being written when the program last ended; once a start.
    void recovered(const QList<ui::RecoveredAnswer>& answers);

    void faulted(const ui::StoreFault& fault);

    /// What a lasting fault kept in memory is on the disk now.
    void faultCleared();

    void unsavedCountChanged(qint64 messageCount);

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
