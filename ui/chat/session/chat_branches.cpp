// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/session/chat_session.h"

#include <algorithm>

// Continuing an answer, and branching from it.

namespace ui {

using namespace engine;

bool ChatSession::canContinue(const StoredMessage& message) {
    const QString& reason = message.figures.finishReason;
    return message.role == MessageRole::Assistant && message.state != MessageState::Streaming &&
           !message.text.isEmpty() && reason != QLatin1String("end_token") &&
           reason != QLatin1String("stop_string");
}

void ChatSession::continueAnswer(MessageId id) {
    const StoredMessage* old = message(id);
    if (old == nullptr || !canContinue(*old) || obstacle(QStringLiteral("x")) != SendObstacle::None)
        return;
    const bool isLeaf = m_chat.childrenOf(id).isEmpty();
    if (!isLeaf)
        addBranch(id, *old, true);
    else
        answer(id);
}

/// An answer that is continued from its own tokens keeps its seed, so that it becomes the same
/// answer as without the interruption. None when nothing has to change for that.
std::optional<SamplingOptions> ChatSession::samplingOf(const StoredMessage& answer) const {
    SamplingOptions sampling = usersSampling();
    if (!answer.figures.seed || *answer.figures.seed == sampling.seed || idsOf(answer).empty())
        return std::nullopt;
    sampling.seed = *answer.figures.seed;
    return sampling;
}

/// The text of an answer ends where its last token made the text certain; anything after that comes
/// again.
void ChatSession::goOnWith(StoredMessage& message, int firstStep) {
    const bool hasIds = !idsOf(message).empty();
    if (!hasIds) {
        MessageFigures begun = beginAnswer(message.parentId).figures;
        begun.seed = message.figures.seed;
        message.tokens.clear();
        message.figures = begun;
    } else if (message.isTraced) {
        message.text.truncate(message.tokens.last().end);
    }
    if (hasIds)
        m_answer->decoderBefore = message.figures.decoderName;
    message.figures.decoderName = beginAnswer(message.parentId).figures.decoderName;
    m_answer->messageId = message.id;
    m_answer->firstToken = static_cast<int>(message.tokens.size());
    m_answer->firstStep = firstStep;
    m_prompts[message.id] = {m_answer->promptId, m_answer->firstToken, m_answer->firstStep};
    message.state = MessageState::Streaming;
    message.figures.finishReason.clear();
    if (!m_isReplay)
        m_store.updateMessage(message);
    emit shown();
}

/// Adds a sibling of another message and shows it; on request the model continues from it.
void ChatSession::addBranch(MessageId beside, StoredMessage made, bool goesOn) {
    made.id = 0;
    made.parentId = message(beside)->parentId;
    m_chat.record.leafId = made.parentId;
    emit shown();
    const MessageId added = append(std::move(made));
    if (goesOn)
        answer(added);
    else
        emit stateChanged();
}

/// A question that was to be answered once more, and is not, shows the answers that it has.
void ChatSession::showAnswersOf(MessageId question) {
    const StoredMessage* asked = message(question);
    const MessageId newest = leafBehind(question);
    if (asked == nullptr || asked->role != MessageRole::User || newest == question ||
        m_chat.record.leafId != question)
        return;
    m_chat.record.leafId = newest;
    m_store.setCurrentLeaf(m_chat.record.id, newest);
    emit shown();
}

void ChatSession::editAnswer(MessageId id, const QString& text, bool goesOn) {
    const StoredMessage* old = message(id);
    if (old == nullptr || old->role != MessageRole::Assistant || text.trimmed().isEmpty() ||
        isBusy())
        return;
    dismissContextQuestion();
    StoredMessage made;
    made.role = MessageRole::Assistant;
    made.text = text;
    made.figures.modelName = old->figures.modelName;
    made.figures.finishReason = QStringLiteral("edited");
    // An unchanged beginning of the answer keeps its ids, so that it is continued exactly.
    const auto isEnd = [&](const TokenTrace& token) { return token.end == text.size(); };
    const auto end = std::ranges::find_if(old->tokens, isEnd);
    if (old->isTraced && old->text.startsWith(text) && end != old->tokens.end())
        made.tokens = old->tokens.first(end - old->tokens.begin() + 1);
    if (!made.tokens.isEmpty())
        made.figures.seed = old->figures.seed;
    addBranch(id, std::move(made), goesOn && obstacle(text) == SendObstacle::None);
}

void ChatSession::branchAt(MessageId id, int token, const TokenChoice& choice) {
    const StoredMessage* old = message(id);
    if (old == nullptr || token < 0 || token >= old->tokens.size() ||
        obstacle(QStringLiteral("x")) != SendObstacle::None)
        return;
    if (idsOf(*old).empty() || !old->isTraced) {
        emit hinted(tr("The model that wrote this answer is not loaded."),
                    tr("Load %1 to continue from one of its tokens.").arg(old->figures.modelName));
        return;
    }
    StoredMessage made;
    made.role = MessageRole::Assistant;
    made.state = MessageState::Stopped;
    made.figures.modelName = old->figures.modelName;
    made.tokens = old->tokens.first(token);
    TokenTrace chosen;
    chosen.id = choice.id;
    chosen.begin = old->tokens[token].begin;
    chosen.end = chosen.begin; // its text comes with the first step
    chosen.step = kChosenByUser;
    chosen.fact.targetProbability = choice.probability;
    chosen.choices = old->tokens[token].choices;
    made.tokens.append(chosen);
    made.text = old->text.left(chosen.begin);
    addBranch(id, std::move(made), true);
}

bool ChatSession::branchAtPlace(const PromptPlace& place, const TokenChoice& choice) {
    for (const StoredMessage& message : m_chat.messages) {
        const auto made = m_prompts.find(message.id);
        if (made == m_prompts.end() || made->second.promptId != place.promptId)
            continue;
        branchAt(message.id, made->second.firstToken + place.index, choice);
        return true;
    }
    emit hinted(tr("The chat that is open does not contain the answer in the lens."),
                tr("Open its chat, then branch again."));
    return false;
}

} // namespace ui
