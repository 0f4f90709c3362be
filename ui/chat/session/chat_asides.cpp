// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/session/chat_session.h"

#include <algorithm>

// Questions that are answered beside the chat, and what is kept of the answers.

namespace ui {

using namespace engine;

ChatSession::Aside ChatSession::asideBehind(MessageId last) const {
    Aside aside;
    aside.chat = m_chat.record.id;
    aside.prompt.messages = promptMessages(last);
    aside.prompt.task = kChatTask;
    aside.prompt.maxTokens = settings().maxTokens;
    for (const QString& text : settings().stopStrings)
        aside.prompt.stopStrings.push_back(text.toStdString());
    aside.prompt.policy = policy() == ContextPolicy::Ask ? ContextPolicy::DropOldest : policy();
    aside.prompt.sampling = usersSampling();
    return aside;
}

std::optional<ChatSession::Aside> ChatSession::asideOf(MessageId id) const {
    const QList<StoredMessage> messages = branch();
    const auto from =
        id == 0 ? messages.rbegin()
                : std::ranges::find(messages.rbegin(), messages.rend(), id, &StoredMessage::id);
    const auto question =
        std::ranges::find(from, messages.rend(), MessageRole::User, &StoredMessage::role);
    if (question == messages.rend())
        return std::nullopt;
    Aside aside = asideBehind(question->id);
    aside.parent = question->parentId;
    aside.question = question->id;
    aside.text = question->text;
    return aside;
}

ChatSession::Aside ChatSession::asideOf(const QString& words) const {
    Aside aside = asideBehind(0);
    aside.parent = m_chat.record.leafId;
    aside.text = words.trimmed();
    aside.prompt.messages.push_back({"user", aside.text.toStdString(), {}});
    return aside;
}

std::optional<ChatSession::Aside> ChatSession::keepAnswers(const Aside& aside,
                                                           const QList<StoredMessage>& answers) {
    const bool isGone = aside.question != 0 && message(aside.question) == nullptr;
    if (isBusy() || m_isReplay || aside.chat != m_chat.record.id || isGone || answers.isEmpty())
        return std::nullopt;
    dismissContextQuestion();
    MessageId question = aside.question;
    if (question == 0) {
        beginChatIfNew(aside.text);
        StoredMessage words;
        words.parentId = aside.parent;
        words.text = aside.text;
        question = append(std::move(words));
    }
    for (StoredMessage answer : answers) {
        answer.id = 0;
        answer.parentId = question;
        append(std::move(answer));
    }
    emit shown();
    emit stateChanged();
    Aside kept = aside;
    kept.chat = m_chat.record.id;
    kept.question = question;
    return kept;
}

} // namespace ui
