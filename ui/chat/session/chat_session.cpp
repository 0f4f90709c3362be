// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/session/chat_session.h"

#include <QDateTime>
#include <QRandomGenerator>

#include <algorithm>
#include <utility>

namespace ui {

using namespace engine;

namespace {

constexpr int kTitleLength = 60;

constexpr const char* kPolicyKey = "context_policy";

/// A draft is on its way to the disk this long after a key, at the latest.
constexpr int kDraftMs = 300;

QString titleOf(const QString& words) {
    const QString line = words.simplified();
    if (line.size() <= kTitleLength)
        return line;
    QString begin = line.left(kTitleLength - 1);
    if (begin.back().isHighSurrogate()) // half a character
        begin.chop(1);
    return begin + u'\u2026';
}

/// An answer that goes on with its own tokens counts its steps behind these. It may have been cut
/// within one.
int stepsOf(const StoredMessage& answer) {
    int steps = 0;
    for (const TokenTrace& token : answer.tokens)
        steps = std::max(steps, token.step + 1);
    return steps;
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
    const MadeBy& made = found->second;
    return PromptPlace{made.promptId, token - made.firstToken, made.firstStep};
}

StoredMessage* ChatSession::find(MessageId id) {
    if (m_leftAnswer && m_leftAnswer->id == id)
        return &*m_leftAnswer;
    const auto found = std::ranges::find(m_chat.messages, id, &StoredMessage::id);
    return found == m_chat.messages.end() ? nullptr : &*found;
}

/// The engine stops within a pass and reports the end later; those events still belong to the
/// answer. Callers tell the new state when they show the next chat: told here, it would let a
/// message that waits be sent into the chat that is being left.
void ChatSession::leaveChat() {
    stopEngine();
    takeBackWaiting();
    saveDraft();
    if (m_chat.record.id == 0)
        m_newChat.record = m_chat.record;
    if (m_answer)
        if (const StoredMessage* answer = message(m_answer->messageId))
            m_leftAnswer = *answer;
}

/// The store's version may be older than the answer that this chat was left with.
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
    if (m_run.model() == nullptr)
        return isLoading() ? SendObstacle::Loading : SendObstacle::NoModel;
    if (isBusy() || m_run.answers().isRunning())
        return SendObstacle::Answering;
    if (isLoading())
        return SendObstacle::Loading;
    if (m_question)
        return SendObstacle::ContextFull;
    return text.trimmed().isEmpty() ? SendObstacle::NoText : SendObstacle::None;
}

void ChatSession::newChat() {
    if (m_isReplay)
        return;
    leaveChat();
    m_chat = m_newChat;
    emit shown();
    emit stateChanged();
}

void ChatSession::beginOwnChat(const QString& firstWords) {
    if (m_isReplay)
        return;
    leaveChat();
    Chat waiting = std::exchange(m_newChat, {});
    m_chat = {};
    beginChatIfNew(firstWords);
    m_newChat = std::move(waiting);
    emit shown();
    emit stateChanged();
}

void ChatSession::openChat(ChatId id) {
    if (id != m_chat.record.id)
        openMessage(id, 0);
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
        leadTo(messageId);
        emit shown();
        emit stateChanged();
        if (messageId != 0)
            emit messageSought(messageId);
    });
}

bool ChatSession::isOnBranch(MessageId id) const {
    const QList<StoredMessage> shown = branch();
    return std::ranges::find(shown, id, &StoredMessage::id) != shown.end();
}

/// Switches to a branch with this message; false if the branch shown already has it.
bool ChatSession::leadTo(MessageId id) {
    if (message(id) == nullptr || isOnBranch(id))
        return false;
    dismissContextQuestion();
    m_chat.record.leafId = leafBehind(id);
    m_store.setCurrentLeaf(m_chat.record.id, m_chat.record.leafId);
    return true;
}

void ChatSession::beginChatIfNew(const QString& firstWords) {
    if (m_chat.record.id != 0)
        return;
    saveDraft();
    if (!std::exchange(m_newChat, {}).draft.isEmpty())
        m_store.setDraft(0, {});
    if (!ownSettings().isEmpty())
        m_defaults.setOfNewChat({}); // they are of a chat that has begun
    if (!m_chat.record.folder.isEmpty())
        m_defaults.setFolderOfNewChat({});
    m_isDraftNew = !m_chat.draft.isEmpty();
    m_draftTimer.start(); // under the chat's own id
    m_chat.record.title = titleOf(firstWords);
    if (const ModelLoaded* model = m_run.model())
        m_chat.record.modelName = QString::fromStdString(model->model.name);
    m_chat.record.id = m_store.createChat(m_chat.record);
}

/// Behind the leaf; nobody is told.
void ChatSession::put(StoredMessage message) {
    message.chatId = m_chat.record.id;
    message.createdMs = QDateTime::currentMSecsSinceEpoch();
    message.id = m_isReplay ? m_chat.messages.size() + 1 : m_store.appendMessage(message);
    m_chat.record.leafId = message.id;
    m_chat.messages.push_back(std::move(message));
}

MessageId ChatSession::append(StoredMessage message) {
    put(std::move(message));
    emit messageAdded(m_chat.record.leafId);
    return m_chat.record.leafId;
}

void ChatSession::send(const QString& text,
                       const QList<Attachment>& attachments,
                       std::optional<SamplingOptions> sampling) {
    const SendObstacle what = obstacle(text);
    const bool isOnlyFiles = what == SendObstacle::NoText && !attachments.isEmpty();
    if (what != SendObstacle::None && !isOnlyFiles) {
        if (what != SendObstacle::NoText)
            emit draftReturned(text, attachments);
        return;
    }
    beginChatIfNew(isOnlyFiles ? attachments.first().name : text);
    StoredMessage words;
    words.parentId = m_chat.record.leafId;
    words.text = text.trimmed();
    words.attachments = attachments;
    answer(append(std::move(words)), std::move(sampling));
}

void ChatSession::regenerate(MessageId id) {
    const StoredMessage* old = message(id);
    if (old == nullptr || obstacle(QStringLiteral("x")) != SendObstacle::None)
        return;
    const bool isAnswer = old->role == MessageRole::Assistant;
    const MessageId words = isAnswer ? old->parentId : id;
    std::optional<SamplingOptions> sampling;
    if (isAnswer) {
        sampling = usersSampling();
        sampling->seed = QRandomGenerator::global()->generate();
        if (sampling->temperature == 0.0)
            emit hinted(tr("At temperature 0 every seed gives the same answer."),
                        tr("Raise the temperature in Parameters for another one."));
    }
    m_chat.record.leafId = words;
    m_store.setCurrentLeaf(m_chat.record.id, words);
    emit shown();
    answer(words, std::move(sampling));
}

void ChatSession::edit(MessageId id, const QString& text) {
    const StoredMessage* old = message(id);
    if (old == nullptr || old->role != MessageRole::User)
        return;
    if (obstacle(text) != SendObstacle::None) {
        emit draftReturned(text, old->attachments);
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
    dismissContextQuestion();
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
    takeBackWaiting();
    saveDraft();
    Chat made;
    made.record = m_chat.record;
    made.record.isPinned = false;
    made.record.isArchived = false;
    made.record.title = tr("%1 (branch)").arg(m_chat.record.title);
    made.record.leafId = 0;
    made.record.id = m_store.createChat(made.record);
    m_chat = made;
    for (auto each = old.begin(); each != last + 1; ++each) {
        StoredMessage copy = *each;
        copy.id = 0;
        copy.parentId = m_chat.record.leafId;
        put(std::move(copy)); // a view that drew each of them would take long over a long chat
    }
    emit shown();
    emit stateChanged();
}

/// The engine counts the conversation: what does not fit is the user's choice, not an error.
void ChatSession::answer(MessageId leaf, std::optional<SamplingOptions> sampling) {
    const StoredMessage& last = *message(leaf);
    SubmitPrompt prompt = makePrompt(promptMessages(leaf), settings().maxTokens);
    prompt.continuesLast = last.role == MessageRole::Assistant;
    if (!prompt.continuesLast && m_defaults.recognisesTasks())
        prompt.taskUse = TaskUse::Recognised;
    prompt.policy = policy();
    prompt.answerRoom = kAnswerRoom;
    prompt.sampling = prompt.continuesLast ? samplingOf(last) : sampling;
    if (prompt.continuesLast && !prompt.messages.back().tokens.empty())
        prompt.firstStep = stepsOf(last);
    const SamplingOptions users = usersSampling();
    const bool hasOwnSampling = prompt.sampling && *prompt.sampling != users;
    const AskedPrompt asked{prompt.promptId, leaf, std::move(sampling), prompt.firstStep};
    if (sendPrompt(std::move(prompt))) {
        m_asked = asked;
        if (hasOwnSampling && m_bridge.send(ChangeSampling{users}))
            m_usersSampling = users; // the engine takes it once the answer has ended
    } else {
        showAnswersOf(leaf);
    }
    emit stateChanged();
}

SubmitPrompt ChatSession::makePrompt(std::vector<PromptMessage> messages, int maxTokens) {
    SubmitPrompt prompt;
    prompt.promptId = ++m_lastPromptId;
    prompt.messages = std::move(messages);
    prompt.task = kChatTask;
    prompt.chat = static_cast<std::uint64_t>(m_chat.record.id);
    prompt.maxTokens = maxTokens;
    for (const QString& text : settings().stopStrings)
        prompt.stopStrings.push_back(text.toStdString());
    return prompt;
}

bool ChatSession::sendPrompt(SubmitPrompt prompt) {
    const bool isSent = m_bridge.send(std::move(prompt));
    if (!isSent)
        emit failed(tr("The engine accepts no more commands."), tr("Wait a moment and try again."));
    return isSent;
}

/// Another model's ids mean other text, and an edited answer's ids do not cover all of its text.
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

/// While a model is loaded, all goes as text, which means the same to every model.
std::vector<PromptMessage> ChatSession::promptMessages(MessageId last) const {
    std::vector<PromptMessage> messages;
    if (const QString prompt = settings().systemPrompt; !prompt.isEmpty())
        messages.push_back({"system", prompt.toStdString(), {}});
    for (const StoredMessage& each : branch()) {
        std::vector<TokenId> ids = isLoading() ? std::vector<TokenId>() : idsOf(each);
        QString text = textWithAttachments(each);
        // A continued answer begins where its last token made its text certain.
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
        m_draftCount = 0;
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
    if (counted.requestId != m_draftCount || m_draftCount == 0)
        return;
    m_draftCount = 0;
    const ContextFit sent =
        fitOf(policy(), counted.total, counted.perMessage, counted.contextLength);
    emit promptCounted(sent.sentTokens);
}

void ChatSession::stop() {
    if (stopEngine())
        emit stateChanged();
}

/// Whether there was something to stop. Answers beside the chat, in other conversations, go on.
bool ChatSession::stopEngine() {
    if (!isBusy())
        return false;
    m_bridge.send(StopGeneration{0});
    if (const auto asked = std::exchange(m_asked, std::nullopt))
        showAnswersOf(asked->leaf);
    return true;
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
