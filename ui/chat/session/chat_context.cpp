// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/session/chat_session.h"

#include <utility>

// What a ChatSession does when the context is full.

namespace ui {

using namespace engine;

namespace {

constexpr int kSummaryTokens = 200;

} // namespace

void ChatSession::goOn(ContextPolicy policy) {
    if (!m_question || policy == ContextPolicy::Ask)
        return;
    m_chat.record.settings.insert(QStringLiteral("context_policy"), policyName(policy));
    m_store.setSettings(m_chat.record.id, m_chat.record.settings);
    const ContextQuestion waiting = *std::exchange(m_question, std::nullopt);
    answer(waiting.leaf, waiting.sampling);
}

void ChatSession::goOnInNewChat() {
    if (m_question)
        submitSummary();
}

/// What is sent of a prompt that the engine counted. The system prompt always stays: it counts as
/// overhead.
ContextFit ChatSession::fitOf(ContextPolicy policy,
                              int total,
                              std::span<const int> perMessage,
                              int contextLength) const {
    if (!settings().systemPrompt.isEmpty() && !perMessage.empty())
        perMessage = perMessage.subspan(1);
    int overhead = total;
    for (const int tokens : perMessage)
        overhead -= tokens;
    return fitContext(policy, perMessage, overhead, promptRoom(contextLength, kAnswerRoom));
}

/// What the engine counted becomes a question.
void ChatSession::onTooLong(const EngineFailed& failure, const AskedPrompt& asked) {
    emit promptCounted(failure.promptTokens);
    if (refuseLongSystemPrompt(failure, asked.leaf))
        return;
    const auto fit = [&](ContextPolicy policy) {
        return fitOf(policy, failure.promptTokens, failure.perMessage, failure.contextLength);
    };
    m_question = ContextQuestion{failure.promptTokens,
                                 failure.contextLength,
                                 fit(ContextPolicy::DropOldest),
                                 fit(ContextPolicy::CutMiddle),
                                 asked.leaf,
                                 asked.sampling};
    emit stateChanged();
}

/// A message that did not fit goes back into the input field and leaves the branch shown. An answer
/// that was to be continued stays unchanged.
void ChatSession::takeBack(MessageId id) {
    const StoredMessage* words = message(id);
    if (words == nullptr || words->role != MessageRole::User)
        return;
    const bool isAnswered = !m_chat.childrenOf(id).isEmpty(); // it was to be answered once more
    m_chat.record.leafId = isAnswered ? leafBehind(id) : words->parentId;
    m_store.setCurrentLeaf(m_chat.record.id, m_chat.record.leafId);
    const QString text = words->text;
    const QList<Attachment> attachments = words->attachments;
    emit shown();
    if (!isAnswered)
        emit draftReturned(text, attachments);
}

/// There is nothing else that could be dropped to make room.
bool ChatSession::refuseLongSystemPrompt(const EngineFailed& failure, MessageId leaf) {
    if (settings().systemPrompt.isEmpty() || failure.perMessage.empty() ||
        failure.perMessage.front() < promptRoom(failure.contextLength, kAnswerRoom))
        return false;
    emit failed(tr("The system prompt has %1 tokens, and the context holds %2.")
                    .arg(failure.perMessage.front())
                    .arg(failure.contextLength),
                tr("Shorten it, or load the model with a longer context."));
    takeBack(leaf);
    emit stateChanged();
    return true;
}

void ChatSession::dismissContextQuestion() {
    if (!m_question)
        return;
    if (m_answer && m_answer->isSummary)
        stopEngine();
    takeBackWaiting();
    emit stateChanged();
}

void ChatSession::takeBackWaiting() {
    if (m_question)
        takeBack(std::exchange(m_question, std::nullopt)->leaf);
}

/// Asks the model for a summary of the chat, without its oldest messages and the words that go on
/// in the next one. An answer that was to go on stays, as templates want the roles in turn.
void ChatSession::submitSummary() {
    const ContextFit& fit = m_question->dropOldest;
    const StoredMessage* waiting = message(m_question->leaf);
    const bool isAnswer = waiting != nullptr && waiting->role == MessageRole::Assistant;
    const std::size_t left = isAnswer ? 0 : 1; // at the end
    std::vector<PromptMessage> messages = promptMessages(m_question->leaf);
    const std::size_t first = messages.size() - fit.isSent.size();
    std::vector<PromptMessage> sent(messages.begin(),
                                    messages.begin() + static_cast<std::ptrdiff_t>(first));
    for (std::size_t i = 0; i + left < fit.isSent.size(); ++i)
        if (fit.isSent[i])
            sent.push_back(std::move(messages[first + i]));
    sent.push_back({"user",
                    "Summarise our conversation so far in at most five sentences, keeping names, "
                    "numbers and open questions.",
                    {}});
    SubmitPrompt prompt = makePrompt(std::move(sent), kSummaryTokens);
    const std::uint64_t id = prompt.promptId;
    if (sendPrompt(std::move(prompt))) {
        beginRunning(id);
        m_answer->isSummary = true;
    }
    emit stateChanged();
}

void ChatSession::continueWithSummary(const QString& summary) {
    const StoredMessage* waiting = m_question ? message(m_question->leaf) : nullptr;
    if (waiting == nullptr)
        return;
    const bool isAnswer = waiting->role == MessageRole::Assistant;
    const QString words = waiting->text;
    const QList<Attachment> attachments = waiting->attachments;
    const QString systemPrompt = settings().systemPrompt;
    AnswerSettings own = ownSettings();
    own.systemPrompt.reset();
    m_question.reset();
    saveDraft();
    const ChatRecord old = std::exchange(m_chat, {}).record;
    m_chat.record.title = tr("%1 (continued)").arg(old.title);
    m_chat.record.folder = old.folder;
    m_chat.record.settings = answerSettingsToJson(own); // what to leave out is asked anew
    m_chat.record.systemPrompt =
        (systemPrompt.isEmpty() ? QString() : systemPrompt + QStringLiteral("\n\n")) +
        QStringLiteral("Summary of the conversation so far: %1").arg(summary);
    if (const ModelLoaded* model = m_run.model())
        m_chat.record.modelName = QString::fromStdString(model->model.name);
    m_chat.record.id = m_store.createChat(m_chat.record);
    emit shown();
    if (!isAnswer)
        send(words, attachments);
}

} // namespace ui
