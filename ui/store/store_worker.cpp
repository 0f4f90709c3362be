// SPDX-License-Identifier: GPL-3.0-only
#include "ui/store/store_worker.h"

#include "ui/store/sqlite/chat_queries.h"
#include "ui/store/sqlite/searched_text.h"

#include <QDateTime>
#include <QRegularExpression>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr int kLongestWaitInRetries = 15;

bool isNewerThan(const ChatRecord& a, const ChatRecord& b) {
    return a.updatedMs != b.updatedMs ? a.updatedMs > b.updatedMs : a.id > b.id;
}

} // namespace

StoreWorker::StoreWorker(StoreOptions options)
    : m_options(std::move(options))
    , m_database(m_options.path)
    , m_commitTimer(this)
    , m_retryTimer(this)
    , m_retryMs(m_options.retryMs) {
    m_commitTimer.setSingleShot(true);
    m_retryTimer.setSingleShot(true);
    connect(&m_commitTimer, &QTimer::timeout, this, &StoreWorker::commit);
    connect(&m_retryTimer, &QTimer::timeout, this, &StoreWorker::retry);
}

void StoreWorker::open() {
    openFile();
    emit opened();
}

/// What stood in the way of saving may be gone by now.
void StoreWorker::close() {
    commit();
    if (!m_unsaved.isEmpty() && !m_database.isWritable()) {
        openFile();
        commit();
    }
    m_commitTimer.stop();
    m_retryTimer.stop();
    m_database.close();
}

void StoreWorker::openFile() {
    for (const StoreFault& fault : m_database.open())
        report(fault);
    readList();
    if (m_database.isWritable() && !m_isTidy)
        tidy();
    if (m_database.isReadable())
        emit highestIdFound(std::max(highestMessageId(m_database.connection()),
                                     m_chats.isEmpty() ? 0 : m_chats.lastKey()));
    emit listReset();
}

void StoreWorker::readList() {
    if (!m_database.isReadable())
        return;
    m_chats.clear();
    const std::optional<QList<ChatRecord>> chats = readChats(m_database.connection());
    for (const ChatRecord& chat : chats.value_or(QList<ChatRecord>()))
        m_chats.insert(chat.id, chat);
    m_chats.insert(m_unsaved.chats);
}

// Once per run: later, streaming messages are this run's own, and a deletion can still be undone.
void StoreWorker::tidy() {
    m_isTidy = true;
    QList<RecoveredAnswer> answers;
    for (const StoredMessage& message : m_database.tidy())
        answers.append({message.chatId,
                        message.id,
                        m_chats.value(message.chatId).title,
                        message.tokens.size()});
    m_chats.removeIf([this](const std::pair<const ChatId&, ChatRecord&>& entry) {
        return entry.second.deletedMs != 0 && !m_unsaved.chats.contains(entry.first);
    });
    if (!answers.isEmpty())
        emit recovered(answers);
}

QList<ChatRecord> StoreWorker::chats() const {
    QList<ChatRecord> list;
    for (const ChatRecord& chat : m_chats)
        if (chat.deletedMs == 0)
            list.append(chat);
    std::sort(list.begin(), list.end(), isNewerThan);
    return list;
}

QList<ChatMatch> StoreWorker::search(const QString& text) const {
    const QStringList words =
        text.split(QRegularExpression(QStringLiteral("\\s+")), Qt::SkipEmptyParts);
    QMap<ChatId, QMap<MessageId, QString>> found; // excerpts
    if (m_database.isReadable() && !words.isEmpty())
        for (const MessageMatch& match :
             findMessages(m_database.connection(), words, kMostHitsOfChat, m_database.hasFullText())
                 .value_or(QList<MessageMatch>()))
            found[match.chatId].insert(match.messageId, match.excerpt);
    for (const StoredMessage& message : m_unsaved.messages) {
        if (!words.isEmpty() && containsAll(searchedText(message), words))
            found[message.chatId].insert(message.id, excerptOf(message, words));
        else
            found[message.chatId].remove(message.id);
    }
    QList<ChatMatch> matches;
    for (const ChatRecord& chat : chats()) {
        const QMap<MessageId, QString> excerpts = found.value(chat.id);
        const QList<MessageId> ids = excerpts.keys();
        const auto oldest = ids.crend() - std::max<qsizetype>(0, ids.size() - kMostHitsOfChat);
        for (auto id = ids.crbegin(); id != oldest; ++id)
            matches.append({chat, excerpts.value(*id), *id});
        if (excerpts.isEmpty() && containsAll(chat.title, words))
            matches.append({chat, QString(), 0});
    }
    return matches;
}

std::optional<Chat> StoreWorker::load(ChatId id) const {
    if (!m_chats.contains(id))
        return std::nullopt;
    QMap<MessageId, StoredMessage> messages;
    if (m_database.isReadable())
        for (const StoredMessage& message :
             readMessages(m_database.connection(), id).value_or(QList<StoredMessage>()))
            messages.insert(message.id, message);
    for (const StoredMessage& message : m_unsaved.messages)
        if (message.chatId == id)
            messages.insert(message.id, message);
    return Chat{m_chats.value(id), messages.values(), draft(id)};
}

void StoreWorker::putDraft(ChatId chat, const Draft& draft) {
    m_unsaved.drafts.insert(chat, draft);
    m_commitTimer.start(0);
}

Draft StoreWorker::draft(ChatId chat) const {
    if (m_unsaved.drafts.contains(chat))
        return m_unsaved.drafts.value(chat);
    return m_database.isReadable() ? readDraft(m_database.connection(), chat).value_or(Draft())
                                   : Draft();
}

void StoreWorker::touch(ChatRecord& chat) {
    m_unsaved.chats.insert(chat.id, chat);
    m_commitTimer.start(0);
    emit chatChanged(chat);
}

void StoreWorker::putChat(const ChatRecord& chat) {
    m_chats.insert(chat.id, chat);
    touch(m_chats[chat.id]);
}

void StoreWorker::changeChat(ChatId id, const std::function<void(ChatRecord&)>& change) {
    const auto chat = m_chats.find(id);
    if (chat == m_chats.end())
        return;
    change(*chat);
    touch(*chat);
}

void StoreWorker::putMessage(const StoredMessage& message, bool isNew) {
    m_unsaved.messages.insert(message.id, message);
    const bool isStreaming = message.state == MessageState::Streaming;
    if (isStreaming && !isNew) {
        if (!m_commitTimer.isActive())
            m_commitTimer.start(m_options.commitMs);
        return;
    }
    // The chat may have been lost with a damaged file.
    ChatRecord chat = m_chats.value(message.chatId);
    if (chat.id == 0) {
        chat.id = message.chatId;
        chat.title = tr("Chat without a title");
        chat.createdMs = message.createdMs;
    }
    chat.updatedMs = std::max(chat.updatedMs, QDateTime::currentMSecsSinceEpoch());
    if (isNew)
        chat.leafId = message.id;
    if (!isStreaming && message.role == MessageRole::Assistant) {
        chat.modelName = message.figures.modelName;
        chat.decoderName = message.figures.decoderName;
        chat.speedup = message.figures.speedup;
    }
    putChat(chat);
}

void StoreWorker::putWhole(const QList<Chat>& chats) {
    for (const Chat& chat : chats) {
        m_chats.insert(chat.record.id, chat.record);
        m_unsaved.chats.insert(chat.record.id, chat.record);
        for (const StoredMessage& message : chat.messages)
            m_unsaved.messages.insert(message.id, message);
    }
    m_commitTimer.start(0);
}

void StoreWorker::deleteChats(const QList<ChatId>& ids, qint64 deletedMs) {
    for (const ChatId id : ids) {
        const auto chat = m_chats.find(id);
        if (chat == m_chats.end())
            continue;
        chat->deletedMs = deletedMs;
        m_unsaved.chats.insert(id, *chat);
    }
    m_commitTimer.start(0);
    emit listReset();
}

// A timer of 0 ms fires after everything posted meanwhile, so that writes sent together are one
// transaction.
void StoreWorker::commit() {
    m_commitTimer.stop();
    if (m_unsaved.isEmpty())
        return;
    if (m_database.isWritable()) {
        const std::optional<StoreFault> fault = m_database.write(m_unsaved);
        if (!fault) {
            acknowledge(std::exchange(m_unsaved, {}));
            return;
        }
        // The next opening reports the damage and renames the file.
        if (fault->isLasting())
            report(*fault);
    }
    if (!m_retryTimer.isActive())
        m_retryTimer.start(m_retryMs);
    tellUnsavedCount();
}

void StoreWorker::acknowledge(const UnsavedRecords& written) {
    if (m_lastingFault) {
        m_lastingFault.reset();
        m_retryTimer.stop();
        m_retryMs = m_options.retryMs;
        emit faultCleared();
    }
    for (const StoredMessage& message : written.messages)
        emit saved(message.id, message.tokens.size());
    tellUnsavedCount();
}

/// A chat changes with each of its messages, and a draft that was emptied takes no words along.
qint64 StoreWorker::changesAtRisk() const {
    QMap<ChatId, ChatRecord> chats = m_unsaved.chats;
    for (const StoredMessage& message : m_unsaved.messages)
        chats.remove(message.chatId);
    const auto drafts = std::count_if(m_unsaved.drafts.begin(),
                                      m_unsaved.drafts.end(),
                                      [](const Draft& draft) { return !draft.isEmpty(); });
    return m_unsaved.messages.size() + chats.size() + drafts;
}

void StoreWorker::tellUnsavedCount() {
    const qint64 count = m_lastingFault ? changesAtRisk() : 0;
    if (std::exchange(m_reportedUnsavedCount, count) != count)
        emit unsavedCountChanged(count);
}

void StoreWorker::report(const StoreFault& fault) {
    const bool isKnown = fault.isLasting() && m_lastingFault == fault.kind;
    if (fault.isLasting()) {
        m_lastingFault = fault.kind;
        m_retryTimer.start(m_retryMs);
        m_retryMs = std::min(m_retryMs * 2, m_options.retryMs * kLongestWaitInRetries);
    }
    if (!isKnown)
        emit faulted(fault);
}

void StoreWorker::retry() {
    if (!m_database.isWritable()) {
        openFile();
        if (!m_database.isWritable())
            return;
    }
    if (!m_unsaved.isEmpty())
        commit();
    else
        acknowledge({});
}

} // namespace ui
