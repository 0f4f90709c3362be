// SPDX-License-Identifier: GPL-3.0-only
#include "ui/store/chat_store.h"

#include <QDateTime>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

// Ids stay below 2^53 for some centuries, so that JSON keeps them exactly.
constexpr qint64 kIdsPerMs = 1000;

} // namespace

ChatStore::ChatStore(StoreOptions options, QObject* parent)
    : QObject(parent)
    , m_worker(new StoreWorker(std::move(options))) {
    qRegisterMetaType<ChatRecord>();
    qRegisterMetaType<StoreFault>();
    qRegisterMetaType<QList<RecoveredAnswer>>();
    m_thread.setObjectName(QStringLiteral("chat store"));
    m_worker->moveToThread(&m_thread);
    connect(&m_thread, &QThread::finished, m_worker, &QObject::deleteLater);
    connect(m_worker, &StoreWorker::opened, this, &ChatStore::opened);
    // A clock that was set back must not give an id a second time.
    connect(m_worker, &StoreWorker::highestIdFound, this, [this](qint64 id) {
        m_lastId = std::max(m_lastId, id);
    });
    connect(m_worker, &StoreWorker::listReset, this, &ChatStore::listReset);
    connect(m_worker, &StoreWorker::chatChanged, this, &ChatStore::chatChanged);
    connect(m_worker, &StoreWorker::saved, this, &ChatStore::saved);
    connect(m_worker, &StoreWorker::recovered, this, &ChatStore::recovered);
    connect(m_worker, &StoreWorker::faulted, this, &ChatStore::faulted);
    connect(m_worker, &StoreWorker::faultCleared, this, &ChatStore::faultCleared);
    connect(m_worker, &StoreWorker::unsavedCountChanged, this, [this](qint64 changeCount) {
        m_unsavedCount = changeCount;
        emit unsavedCountChanged(changeCount);
    });
    m_thread.start();
}

ChatStore::~ChatStore() {
    for (const StoredMessage& message : std::exchange(m_updates, {}))
        post([message](StoreWorker& worker) { worker.putMessage(message, false); });
    // Queued after everything that was posted; the thread's own quit() would overtake it.
    post([thread = &m_thread](StoreWorker& worker) {
        worker.close();
        thread->quit();
    });
    m_thread.wait();
}

template <typename Task> void ChatStore::post(Task task) {
    QMetaObject::invokeMethod(
        m_worker,
        [worker = m_worker, task = std::move(task)]() mutable { task(*worker); },
        Qt::QueuedConnection);
}

template <typename Value, typename Question>
void ChatStore::ask(QObject* context, std::function<void(Value)> done, Question question) {
    post([this,
          guard = QPointer<QObject>(context),
          done = std::move(done),
          question = std::move(question)](StoreWorker& worker) mutable {
        // Moved, so that what the receiver's callback captured is destroyed on its own thread.
        QMetaObject::invokeMethod(
            this,
            [guard = std::move(guard), done = std::move(done), value = question(worker)] {
                if (guard)
                    done(value);
            },
            Qt::QueuedConnection);
    });
}

void ChatStore::open() {
    post([](StoreWorker& worker) { worker.open(); });
}

void ChatStore::listChats(QObject* context, std::function<void(QList<ChatRecord>)> done) {
    ask(context, std::move(done), [](StoreWorker& worker) { return worker.chats(); });
}

void ChatStore::searchChats(const QString& text,
                            QObject* context,
                            std::function<void(QList<ChatMatch>)> done) {
    ask(context, std::move(done), [text](StoreWorker& worker) { return worker.search(text); });
}

void ChatStore::loadChat(ChatId id,
                         QObject* context,
                         std::function<void(std::optional<Chat>)> done) {
    ask(context, std::move(done), [id](StoreWorker& worker) { return worker.load(id); });
}

void ChatStore::loadDraft(ChatId chat, QObject* context, std::function<void(Draft)> done) {
    ask(context, std::move(done), [chat](StoreWorker& worker) { return worker.draft(chat); });
}

void ChatStore::exportChat(ChatId id,
                           const ExportRequest& request,
                           QObject* context,
                           std::function<void(ExportOutcome)> done) {
    ask(context, std::move(done), [id, request](StoreWorker& worker) {
        const std::optional<Chat> chat = worker.load(id);
        return ExportOutcome{request.path,
                             chat ? writeExport(*chat, request)
                                  : tr("The chat is no longer there. Choose another one.")};
    });
}

// One slice at a time, so that other writes get their turn between two slices.
void ChatStore::importChats(const QStringList& paths,
                            QObject* context,
                            std::function<bool(const ImportSlice&)> progress) {
    readOn(std::make_shared<ChatImport>(paths), context, std::move(progress));
}

void ChatStore::readOn(const std::shared_ptr<ChatImport>& import,
                       QObject* context,
                       std::function<bool(const ImportSlice&)> progress) {
    ask<ImportSlice>(
        context,
        [this, import, context, progress](ImportSlice slice) {
            addChats(slice.chats);
            if (progress(slice) && !slice.isOver)
                readOn(import, context, progress);
            else
                emit listReset();
        },
        [import](StoreWorker&) { return import->next(); });
}

void ChatStore::addChats(QList<Chat>& chats) {
    for (Chat& chat : chats) {
        const ChatId id = nextId();
        const MessageId before = m_lastId;
        m_lastId += chat.messages.size();
        const qint64 now = QDateTime::currentMSecsSinceEpoch();
        ChatRecord& record = chat.record;
        record.id = id;
        record.leafId = record.leafId == 0 ? 0 : before + record.leafId;
        if (record.updatedMs == 0)
            record.updatedMs = now;
        if (record.createdMs == 0)
            record.createdMs = record.updatedMs;
        for (StoredMessage& message : chat.messages) {
            message.chatId = id;
            message.id += before;
            message.parentId += message.parentId == 0 ? 0 : before;
        }
    }
    if (!chats.isEmpty())
        post([chats](StoreWorker& worker) { worker.putWhole(chats); });
}

ChatId ChatStore::createChat(ChatRecord chat) {
    chat.id = nextId();
    chat.createdMs = QDateTime::currentMSecsSinceEpoch();
    chat.updatedMs = chat.createdMs;
    chat.deletedMs = 0;
    post([chat](StoreWorker& worker) { worker.putChat(chat); });
    return chat.id;
}

void ChatStore::change(ChatId id, std::function<void(ChatRecord&)> change) {
    post([id, change = std::move(change)](StoreWorker& worker) { worker.changeChat(id, change); });
}

void ChatStore::renameChat(ChatId id, const QString& title) {
    change(id, [title](ChatRecord& chat) { chat.title = title; });
}

void ChatStore::setSystemPrompt(ChatId id, const QString& systemPrompt) {
    change(id, [systemPrompt](ChatRecord& chat) { chat.systemPrompt = systemPrompt; });
}

void ChatStore::setSettings(ChatId id, const QJsonObject& settings) {
    change(id, [settings](ChatRecord& chat) { chat.settings = settings; });
}

void ChatStore::setCurrentLeaf(ChatId id, MessageId leaf) {
    change(id, [leaf](ChatRecord& chat) { chat.leafId = leaf; });
}

void ChatStore::setPinned(ChatId id, bool isPinned) {
    change(id, [isPinned](ChatRecord& chat) { chat.isPinned = isPinned; });
}

void ChatStore::setArchived(ChatId id, bool isArchived) {
    change(id, [isArchived](ChatRecord& chat) { chat.isArchived = isArchived; });
}

void ChatStore::setFolder(ChatId id, const QString& folder) {
    change(id, [folder](ChatRecord& chat) { chat.folder = folder; });
}

void ChatStore::deleteChat(ChatId id) {
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    change(id, [now](ChatRecord& chat) { chat.deletedMs = now; });
}

void ChatStore::deleteChats(const QList<ChatId>& ids) {
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    post([ids, now](StoreWorker& worker) { worker.deleteChats(ids, now); });
    emit chatsDeleted(ids);
}

void ChatStore::restoreChat(ChatId id) {
    change(id, [](ChatRecord& chat) { chat.deletedMs = 0; });
}

void ChatStore::setDraft(ChatId chat, const Draft& draft) {
    post([chat, draft](StoreWorker& worker) { worker.putDraft(chat, draft); });
}

MessageId ChatStore::appendMessage(StoredMessage message) {
    message.id = nextId();
    if (message.createdMs == 0)
        message.createdMs = QDateTime::currentMSecsSinceEpoch();
    post([message](StoreWorker& worker) { worker.putMessage(message, true); });
    return message.id;
}

void ChatStore::updateMessage(const StoredMessage& message) {
    m_updates.insert(message.id, message);
    sendNextUpdate();
}

// One write at a time: while the disk is slow, only the newest state of an answer waits.
void ChatStore::sendNextUpdate() {
    if (m_isUpdateUnderWay || m_updates.isEmpty())
        return;
    m_isUpdateUnderWay = true;
    const StoredMessage message = m_updates.take(m_updates.constBegin().key());
    ask<bool>(
        this,
        [this](bool) {
            m_isUpdateUnderWay = false;
            sendNextUpdate();
        },
        [message](StoreWorker& worker) {
            worker.putMessage(message, false);
            return true;
        });
}

void ChatStore::finishMessage(const StoredMessage& message) {
    m_updates.remove(message.id);
    post([message](StoreWorker& worker) { worker.putMessage(message, false); });
}

qint64 ChatStore::nextId() {
    m_lastId = std::max(m_lastId + 1, QDateTime::currentMSecsSinceEpoch() * kIdsPerMs);
    return m_lastId;
}

} // namespace ui
