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

/// A draft is on its way to the disk this long after a key, at the latest.
constexpr int kDraftMs = 300;

QString titleOf(const QString& words) {
    const QString line = words.simplified();
    return line.size() <= kTitleLength ? line : line.left(kTitleLength - 1) + u'\u2026';
}

} // namespace

ChatSession::ChatSession(EngineBridge& bridge,
                         const RunStore& run,
                         ChatStore& store,
                         AnswerDefaults& defaults)
    : m_bridge(bridge)
    , m_run(run)
    , m_store(store)
    , m_defaults(defaults) {
    connect(&bridge, &EngineBridge::eventCame, this, &ChatSession::onEvent);
    connect(&bridge, &EngineBridge::rewound, this, &ChatSession::onRewound);
    connect(&store, &ChatStore::chatChanged, this, &ChatSession::onChatChanged);
    connect(&store, &ChatStore::chatsDeleted, this, [this](const QList<qint64>& ids) {
        if (ids.contains(m_chat.record.id))
            newChat();
    });
    connect(&defaults, &AnswerDefaults::changed, this, &ChatSession::stateChanged);
    m_draftTimer.setSingleShot(true);
    m_draftTimer.setInterval(kDraftMs);
    connect(&m_draftTimer, &QTimer::timeout, this, &ChatSession::saveDraft);
    connect(&store, &ChatStore::opened, this, &ChatSession::showNewChat);
}

ChatSession::~ChatSession() {
    saveDraft();
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

std::optional<ChatSession::PromptPlace> ChatSession::placeOf(MessageId answer, int token) const {
    const auto found = m_prompts.find(answer);
    if (found == m_prompts.end() || token < found->second.firstToken)
        return std::nullopt;
    return PromptPlace{found->second.promptId, token - found->second.firstToken};
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
    saveDraft();
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
    if (isBusy() || m_run.answers().isRunning())
        return SendObstacle::Answering;
    if (m_question)
        return SendObstacle::ContextFull;
    return text.trimmed().isEmpty() ? SendObstacle::NoText : SendObstacle::None;
}

void ChatSession::newChat() {
    leaveChat();
    m_chat = {};
    m_chat.draft = m_newChatDraft;
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

void ChatSession::openMessage(ChatId id, MessageId messageId) {
    if (id == m_chat.record.id) {
        if (!isBusy() && leadTo(messageId))
            emit shown();
        emit messageSought(messageId);
        return;
    }
    m_store.loadChat(id, this, [this, messageId](std::optional<Chat> chat) {
        if (!chat)
            return;
        returnTo(std::move(*chat));
        m_question.reset();
        m_count.reset();
        leadTo(messageId);
        emit shown();
        emit stateChanged();
        emit messageSought(messageId);
    });
}

bool ChatSession::isOnBranch(MessageId id) const {
    const QList<StoredMessage> shown = branch();
    return std::ranges::find(shown, id, &StoredMessage::id) != shown.end();
}

/// To a branch with this message; false when the one that is shown has it.
bool ChatSession::leadTo(MessageId id) {
    if (message(id) == nullptr || isOnBranch(id))
        return false;
    m_chat.record.leafId = leafBehind(id);
    m_store.setCurrentLeaf(m_chat.record.id, m_chat.record.leafId);
    return true;
}

void ChatSession::setNewFolder(const QString& folder) {
    if (m_chat.record.id == 0)
        m_chat.record.folder = folder;
}

void ChatSession::beginChatIfNew(const QString& firstWords) {
    if (m_chat.record.id != 0)
        return;
    saveDraft();
    if (!std::exchange(m_newChatDraft, {}).isEmpty())
        m_store.setDraft(0, {});
    m_isDraftNew = !m_chat.draft.isEmpty();
    m_draftTimer.start(); // under the chat's own id
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

void ChatSession::send(const QString& text, const QList<Attachment>& attachments) {
    const SendObstacle what = obstacle(text);
    const bool isOnlyFiles = what == SendObstacle::NoText && !attachments.isEmpty();
    if (what != SendObstacle::None && !isOnlyFiles)
        return;
    beginChatIfNew(isOnlyFiles ? attachments.first().name : text);
    StoredMessage words;
    words.parentId = m_chat.record.leafId;
    words.text = text.trimmed();
    words.attachments = attachments;
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
        emit draftReturned(text, {});
        return;
    }
    StoredMessage words;
    words.parentId = old->parentId;
    words.text = text.trimmed();
    words.attachments = old->attachments;
    m_chat.record.leafId = words.parentId;
    const MessageId added = append(std::move(words));
    emit shown();
    answer(added);
}

/// The newest end of the branches through the message.
MessageId ChatSession::leafBehind(MessageId id) const {
    MessageId leaf = id;
    for (auto children = m_chat.childrenOf(leaf); !children.isEmpty();
         children = m_chat.childrenOf(leaf))
        leaf = children.last();
    return leaf;
}

void ChatSession::showBranch(MessageId id) {
    if (message(id) == nullptr || isBusy())
        return;
    m_chat.record.leafId = leafBehind(id);
    m_store.setCurrentLeaf(m_chat.record.id, m_chat.record.leafId);
    emit shown();
}

void ChatSession::branchIntoNewChat(MessageId id) {
    if (isBusy())
        return;
    const QList<StoredMessage> old = branch();
    const auto last = std::ranges::find(old, id, &StoredMessage::id);
    if (last == old.end())
        return;
    saveDraft();
    Chat made;
    made.record = m_chat.record;
    made.record.isPinned = false;
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
void ChatSession::answer(MessageId leaf) {
    m_count = PendingCount{++m_lastPromptId, leaf};
    CountTokens count{m_count->requestId, promptMessages(leaf)};
    count.continuesLast = message(leaf)->role == MessageRole::Assistant;
    if (!m_bridge.send(std::move(count))) {
        m_count.reset();
        emit failed(tr("The engine takes no more commands."), tr("Wait a moment and try again."));
    }
    emit stateChanged();
}

/// Ids of another model mean other words, and those of an edited answer are not all of its text.
std::vector<TokenId> ChatSession::idsOf(const StoredMessage& message) const {
    const ModelLoaded* model = m_run.model();
    const bool isOwn =
        model != nullptr && message.figures.modelName == QString::fromStdString(model->model.name);
    std::vector<TokenId> ids;
    if (isOwn && !message.tokens.isEmpty() && message.tokens.front().begin == 0)
        for (const TokenTrace& token : message.tokens)
            ids.push_back(token.id);
    return ids;
}

std::vector<PromptMessage> ChatSession::promptMessages(MessageId last) const {
    std::vector<PromptMessage> messages;
    if (const QString prompt = settings().systemPrompt; !prompt.isEmpty())
        messages.push_back({"system", prompt.toStdString(), {}});
    for (const StoredMessage& each : branch()) {
        std::vector<TokenId> ids = idsOf(each);
        QString text = textWithAttachments(each);
        // An answer that goes on begins where its last token made its text certain.
        if (each.id == last && !ids.empty() && each.isTraced)
            text.truncate(each.tokens.last().end);
        messages.push_back({roleName(each.role).toStdString(), text.toStdString(), std::move(ids)});
        if (each.id == last)
            break;
    }
    return messages;
}

ContextPolicy ChatSession::policy() const {
    return policyNamed(m_chat.record.settings.value(QLatin1String(kPolicyKey)).toString());
}

void ChatSession::countDraft() {
    if (m_isReplay || isBusy() || m_run.model() == nullptr)
        return;
    std::vector<PromptMessage> messages = promptMessages(0);
    StoredMessage words;
    words.text = m_chat.draft.text.trimmed();
    words.attachments = m_chat.draft.attachments;
    if (!words.text.isEmpty() || !words.attachments.isEmpty())
        messages.push_back({"user", textWithAttachments(words).toStdString(), {}});
    if (messages.empty()) {
        emit promptCounted(0);
        return;
    }
    m_draftCount = ++m_lastPromptId;
    m_bridge.send(CountTokens{m_draftCount, std::move(messages)});
}

std::optional<SubmitPrompt> ChatSession::newestQuestion() const {
    const QList<StoredMessage> messages = branch();
    const auto last = std::ranges::find(
        messages.rbegin(), messages.rend(), MessageRole::User, &StoredMessage::role);
    if (last == messages.rend())
        return std::nullopt;
    SubmitPrompt prompt;
    prompt.messages = promptMessages(last->id);
    prompt.task = kChatTask;
    return prompt;
}

void ChatSession::onCounted(const TokensCounted& counted) {
    if (counted.requestId == m_draftCount && m_draftCount != 0) {
        m_draftCount = 0;
        emit promptCounted(counted.total);
        return;
    }
    if (!m_count || counted.requestId != m_count->requestId)
        return;
    const MessageId leaf = m_count->leaf;
    m_count.reset();
    emit promptCounted(counted.total);
    if (refuseLongSystemPrompt(counted, leaf))
        return;
    std::vector<PromptMessage> messages = promptMessages(leaf);
    // The system prompt always stays: it counts as overhead.
    const std::size_t first = settings().systemPrompt.isEmpty() ? 0 : 1;
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
                            leaf};
        emit stateChanged();
        return;
    }
    std::vector<PromptMessage> sent(messages.begin(), messages.begin() + static_cast<int>(first));
    for (std::size_t i = first; i < messages.size(); ++i)
        if (fit.isSent[i - first])
            sent.push_back(std::move(messages[i]));
    submit(leaf, std::move(sent));
}

bool ChatSession::startPrompt(std::vector<PromptMessage> messages,
                              int maxTokens,
                              bool continuesLast) {
    m_answer.emplace();
    m_answer->promptId = ++m_lastPromptId;
    m_answer->sinceUpdate.start();
    SubmitPrompt prompt;
    prompt.promptId = m_answer->promptId;
    prompt.messages = std::move(messages);
    prompt.task = kChatTask;
    prompt.chat = static_cast<std::uint64_t>(m_chat.record.id);
    prompt.maxTokens = maxTokens;
    prompt.continuesLast = continuesLast;
    for (const QString& text : settings().stopStrings)
        prompt.stopStrings.push_back(text.toStdString());
    if (m_bridge.send(std::move(prompt)))
        return true;
    m_answer.reset();
    emit failed(tr("The engine takes no more commands."), tr("Wait a moment and try again."));
    return false;
}

void ChatSession::submit(MessageId leaf, std::vector<PromptMessage> messages) {
    StoredMessage* begun = find(leaf);
    const bool goesOn = begun != nullptr && begun->role == MessageRole::Assistant;
    const quint64 seed = goesOn ? takeSeedOf(*begun) : m_run.sampling().seed;
    StoredMessage answer = beginAnswer(leaf);
    answer.figures.seed = seed;
    if (!startPrompt(std::move(messages), settings().maxTokens, goesOn))
        return;
    if (goesOn) {
        begun->figures.seed = seed;
        goOnWith(*begun);
    } else {
        m_answer->messageId = append(std::move(answer));
        m_prompts[m_answer->messageId] = {m_answer->promptId, 0};
    }
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
    m_chat.record.folder = chat.folder;
    m_chat.record.isPinned = chat.isPinned;
    m_chat.record.isArchived = chat.isArchived;
    emit stateChanged();
}

} // namespace ui
