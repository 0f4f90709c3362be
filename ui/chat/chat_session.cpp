// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/chat_session.h"

#include <QDateTime>
#include <QRandomGenerator>

#include <algorithm>
#include <utility>

namespace ui {

using namespace engine;

namespace {

constexpr int kTitleLength = 60;

/// Whose search state chats share.
constexpr const char* kChatTask = "chat";

constexpr const char* kPolicyKey = "context_policy";

QString titleOf(const QString& words) {
    const QString line = words.simplified();
    return line.size() <= kTitleLength ? line : line.left(kTitleLength - 1) + u'\u2026';
}

std::vector<TokenId> idsOf(const StoredMessage& message) {
    std::vector<TokenId> ids;
    for (const TokenTrace& token : message.tokens)
        ids.push_back(token.id);
    return ids;
}

} // namespace

ChatSession::ChatSession(EngineBridge& bridge, const RunStore& run, ChatStore& store)
    : m_bridge(bridge)
    , m_run(run)
    , m_store(store) {
    connect(&bridge, &EngineBridge::eventCame, this, &ChatSession::onEvent);
    connect(&bridge, &EngineBridge::rewound, this, &ChatSession::onRewound);
    connect(&store, &ChatStore::chatChanged, this, &ChatSession::onChatChanged);
}

ChatSession::~ChatSession() {
    if (!m_answer || m_isReplay)
        return;
    if (StoredMessage* answer = find(m_answer->messageId)) {
        answer->state = MessageState::Stopped;
        m_store.finishMessage(*answer);
    }
}

const StoredMessage* ChatSession::message(MessageId id) const {
    const auto found = std::ranges::find(m_chat.messages, id, &StoredMessage::id);
    return found == m_chat.messages.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> ChatSession::promptOf(MessageId answer) const {
    const auto found = m_prompts.find(answer);
    return found == m_prompts.end() ? std::nullopt : std::optional(found->second);
}

StoredMessage* ChatSession::find(MessageId id) {
    if (m_leftAnswer && m_leftAnswer->id == id)
        return &*m_leftAnswer;
    const auto found = std::ranges::find(m_chat.messages, id, &StoredMessage::id);
    return found == m_chat.messages.end() ? nullptr : &*found;
}

/// The engine ends within a pass, and tells so later: what it tells still belongs to the answer.
void ChatSession::leaveChat() {
    stop();
    if (m_answer)
        if (const StoredMessage* answer = message(m_answer->messageId))
            m_leftAnswer = *answer;
}

/// What the store gave may be older than the answer that was left in this chat.
void ChatSession::returnTo(Chat chat) {
    leaveChat();
    m_chat = std::move(chat);
    if (!m_leftAnswer || m_leftAnswer->chatId != m_chat.record.id)
        return;
    const StoredMessage answer = *std::exchange(m_leftAnswer, std::nullopt);
    if (StoredMessage* stored = find(answer.id))
        *stored = answer;
}

SendObstacle ChatSession::obstacle(const QString& text) const {
    if (m_isReplay)
        return SendObstacle::Replay;
    if (m_run.loading() != nullptr && m_run.model() == nullptr)
        return SendObstacle::Loading;
    if (m_run.model() == nullptr)
        return SendObstacle::NoModel;
    if (m_answer || m_count)
        return SendObstacle::Answering;
    if (m_question)
        return SendObstacle::ContextFull;
    return text.trimmed().isEmpty() ? SendObstacle::NoText : SendObstacle::None;
}

void ChatSession::newChat() {
    leaveChat();
    m_chat = {};
    m_question.reset();
    m_count.reset();
    emit shown();
    emit stateChanged();
}

void ChatSession::openChat(ChatId id) {
    if (id == m_chat.record.id)
        return;
    m_store.loadChat(id, this, [this](std::optional<Chat> chat) {
        if (!chat)
            return;
        returnTo(std::move(*chat));
        m_question.reset();
        m_count.reset();
        emit shown();
        emit stateChanged();
    });
}

void ChatSession::beginChatIfNew(const QString& firstWords) {
    if (m_chat.record.id != 0)
        return;
    m_chat.record.title = titleOf(firstWords);
    if (const ModelLoaded* model = m_run.model())
        m_chat.record.modelName = QString::fromStdString(model->model.name);
    m_chat.record.id = m_store.createChat(m_chat.record);
}

MessageId ChatSession::append(StoredMessage message) {
    message.chatId = m_chat.record.id;
    message.createdMs = QDateTime::currentMSecsSinceEpoch();
    message.id = m_isReplay ? m_chat.messages.size() + 1 : m_store.appendMessage(message);
    m_chat.record.leafId = message.id;
    m_chat.messages.push_back(std::move(message));
    emit messageAdded(m_chat.record.leafId);
    return m_chat.record.leafId;
}

void ChatSession::send(const QString& text) {
    if (obstacle(text) != SendObstacle::None)
        return;
    beginChatIfNew(text);
    StoredMessage words;
    words.parentId = m_chat.record.leafId;
    words.text = text.trimmed();
    answer(append(std::move(words)));
}

void ChatSession::regenerate(MessageId id) {
    const StoredMessage* old = message(id);
    if (old == nullptr || old->role != MessageRole::Assistant ||
        obstacle(QStringLiteral("x")) != SendObstacle::None)
        return;
    const MessageId words = old->parentId;
    SamplingOptions sampling = m_run.sampling();
    sampling.seed = QRandomGenerator::global()->generate();
    m_bridge.send(ChangeSampling{sampling});
    if (sampling.temperature == 0.0)
        emit hinted(tr("At temperature 0 every seed gives the same answer."),
                    tr("Raise the temperature in Parameters for another one."));
    m_chat.record.leafId = words;
    m_store.setCurrentLeaf(m_chat.record.id, words);
    emit shown();
    answer(words);
}

void ChatSession::edit(MessageId id, const QString& text) {
    const StoredMessage* old = message(id);
    if (old == nullptr || old->role != MessageRole::User)
        return;
    if (obstacle(text) != SendObstacle::None) {
        emit draftReturned(text);
        return;
    }
    StoredMessage words;
    words.parentId = old->parentId;
    words.text = text.trimmed();
    m_chat.record.leafId = words.parentId;
    const MessageId added = append(std::move(words));
    emit shown();
    answer(added);
}

void ChatSession::showBranch(MessageId id) {
    if (message(id) == nullptr || isAnswering())
        return;
    MessageId leaf = id;
    for (auto children = m_chat.childrenOf(leaf); !children.isEmpty();
         children = m_chat.childrenOf(leaf))
        leaf = children.last();
    m_chat.record.leafId = leaf;
    m_store.setCurrentLeaf(m_chat.record.id, leaf);
    emit shown();
}

void ChatSession::branchIntoNewChat(MessageId id) {
    if (isAnswering())
        return;
    const QList<StoredMessage> old = branch();
    const auto last = std::ranges::find(old, id, &StoredMessage::id);
    if (last == old.end())
        return;
    Chat made;
    made.record = m_chat.record;
    made.record.title = tr("%1 (branch)").arg(m_chat.record.title);
    made.record.leafId = 0;
    made.record.id = m_store.createChat(made.record);
    m_chat = made;
    for (auto each = old.begin(); each != last + 1; ++each) {
        StoredMessage copy = *each;
        copy.id = 0;
        copy.parentId = m_chat.record.leafId;
        append(std::move(copy));
    }
    emit shown();
}

/// First the model counts the conversation: what does not fit is the user's choice, not an error.
void ChatSession::answer(MessageId userMessage) {
    m_count = PendingCount{++m_lastPromptId, userMessage};
    if (!m_bridge.send(CountTokens{m_count->requestId, promptMessages(userMessage)})) {
        m_count.reset();
        emit failed(tr("The engine takes no more commands."), tr("Wait a moment and try again."));
    }
    emit stateChanged();
}

std::vector<PromptMessage> ChatSession::promptMessages(MessageId last) const {
    std::vector<PromptMessage> messages;
    if (!m_chat.record.systemPrompt.isEmpty())
        messages.push_back({"system", m_chat.record.systemPrompt.toStdString(), {}});
    for (const StoredMessage& each : branch()) {
        const bool isUser = each.role == MessageRole::User;
        messages.push_back({roleName(each.role).toStdString(),
                            each.text.toStdString(),
                            isUser ? std::vector<TokenId>() : idsOf(each)});
        if (each.id == last)
            break;
    }
    return messages;
}

ContextPolicy ChatSession::policy() const {
    return policyNamed(m_chat.record.settings.value(QLatin1String(kPolicyKey)).toString());
}

void ChatSession::onCounted(const TokensCounted& counted) {
    if (!m_count || counted.requestId != m_count->requestId)
        return;
    const MessageId userMessage = m_count->userMessage;
    m_count.reset();
    emit promptCounted(counted.total);
    std::vector<PromptMessage> messages = promptMessages(userMessage);
    // The system prompt always stays: it counts as overhead.
    const std::size_t first = m_chat.record.systemPrompt.isEmpty() ? 0 : 1;
    const std::span<const int> perMessage = std::span(counted.perMessage).subspan(first);
    int overhead = counted.total;
    for (const int tokens : perMessage)
        overhead -= tokens;
    const int length = counted.contextLength;
    const ContextFit fit = fitContext(policy(), perMessage, overhead, length);
    if (!fit.isEnough) {
        m_question =
            ContextQuestion{counted.total,
                            length,
                            fitContext(ContextPolicy::DropOldest, perMessage, overhead, length),
                            fitContext(ContextPolicy::CutMiddle, perMessage, overhead, length),
                            userMessage};
        emit stateChanged();
        return;
    }
    std::vector<PromptMessage> sent(messages.begin(), messages.begin() + static_cast<int>(first));
    for (std::size_t i = first; i < messages.size(); ++i)
        if (fit.isSent[i - first])
            sent.push_back(std::move(messages[i]));
    submit(userMessage, std::move(sent));
}

bool ChatSession::startPrompt(std::vector<PromptMessage> messages, int maxTokens) {
    m_answer.emplace();
    m_answer->promptId = ++m_lastPromptId;
    m_answer->sinceUpdate.start();
    SubmitPrompt prompt;
    prompt.promptId = m_answer->promptId;
    prompt.messages = std::move(messages);
    prompt.task = kChatTask;
    prompt.chat = static_cast<std::uint64_t>(m_chat.record.id);
    prompt.maxTokens = maxTokens;
    if (m_bridge.send(std::move(prompt)))
        return true;
    m_answer.reset();
    emit failed(tr("The engine takes no more commands."), tr("Wait a moment and try again."));
    return false;
}

void ChatSession::submit(MessageId userMessage, std::vector<PromptMessage> messages) {
    StoredMessage answer = beginAnswer(userMessage);
    answer.figures.seed = m_run.sampling().seed;
    if (!startPrompt(std::move(messages), kMostAnswerTokens))
        return;
    m_answer->messageId = append(std::move(answer));
    m_prompts[m_answer->messageId] = m_answer->promptId;
    emit stateChanged();
}

void ChatSession::stop() {
    if (!m_answer && !m_count)
        return;
    m_count.reset();
    m_bridge.send(StopGeneration{});
    emit stateChanged();
}

void ChatSession::rename(ChatId id, const QString& title) { m_store.renameChat(id, title); }

void ChatSession::onChatChanged(const ChatRecord& chat) {
    if (chat.id != m_chat.record.id)
        return;
    if (chat.deletedMs != 0) {
        newChat();
        return;
    }
    m_chat.record.title = chat.title;
    emit stateChanged();
}

} // namespace ui
