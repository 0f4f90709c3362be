// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/chat_session.h"

// What a ChatSession does when the context is full.

namespace ui {

using namespace engine;

namespace {

constexpr int kSummaryTokens = 200;

} // namespace

void ChatSession::goOn(ContextPolicy policy) {
    if (!m_question || policy == ContextPolicy::Ask)
        return;
    if (policy == ContextPolicy::NewChatWithSummary) {
        submitSummary();
        return;
    }
    m_chat.record.settings.insert(QStringLiteral("context_policy"), policyName(policy));
    m_store.setSettings(m_chat.record.id, m_chat.record.settings);
    const MessageId waiting = m_question->userMessage;
    m_question.reset();
    answer(waiting);
}

void ChatSession::dismissContextQuestion() {
    if (!m_question)
        return;
    const StoredMessage* words = message(m_question->userMessage);
    m_question.reset();
    if (words != nullptr)
        emit draftReturned(words->text);
    emit stateChanged();
}

/// Asks the model itself, with the oldest messages left out, what the chat was about.
void ChatSession::submitSummary() {
    const ContextFit& fit = m_question->dropOldest;
    std::vector<PromptMessage> messages = promptMessages(m_question->userMessage);
    const std::size_t first = messages.size() - fit.isSent.size();
    std::vector<PromptMessage> sent(messages.begin(),
                                    messages.begin() + static_cast<std::ptrdiff_t>(first));
    for (std::size_t i = 0; i + 1 < fit.isSent.size(); ++i)
        if (fit.isSent[i])
            sent.push_back(std::move(messages[first + i]));
    sent.push_back({"user",
                    "Summarise our conversation so far in at most five sentences, keeping names, "
                    "numbers and open questions.",
                    {}});
    if (startPrompt(std::move(sent), kSummaryTokens))
        m_answer->isSummary = true;
    emit stateChanged();
}

void ChatSession::continueWithSummary(const QString& summary) {
    const StoredMessage* waiting = m_question ? message(m_question->userMessage) : nullptr;
    if (waiting == nullptr)
        return;
    const QString words = waiting->text;
    const QString oldTitle = m_chat.record.title;
    m_question.reset();
    m_chat = {};
    m_chat.record.title = tr("%1 (continued)").arg(oldTitle);
    m_chat.record.systemPrompt =
        QStringLiteral("Summary of the conversation so far: %1").arg(summary);
    if (const ModelLoaded* model = m_run.model())
        m_chat.record.modelName = QString::fromStdString(model->model.name);
    m_chat.record.id = m_store.createChat(m_chat.record);
    emit shown();
    send(words);
}

} // namespace ui
