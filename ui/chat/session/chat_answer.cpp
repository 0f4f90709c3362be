// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/session/chat_session.h"

#include <utility>

// How the engine's events of an answer get into the chat.

namespace ui {

using namespace engine;

namespace {

/// The growing answer goes to the store at most this often.
constexpr int kUpdateMs = 250;

MessageState stateOf(FinishReason reason) {
    return reason == FinishReason::Cancelled ? MessageState::Stopped : MessageState::Finished;
}

} // namespace

void ChatSession::onEvent(const EngineEvent& event) {
    if (const auto* counted = event.as<TokensCounted>())
        onCounted(*counted);
    else if (const auto* failure = event.as<EngineFailed>())
        onFailed(*failure);
    else if (const auto* started = event.as<PromptStarted>())
        onStarted(*started);
    else if (const auto* changed = event.as<SamplingChanged>();
             changed != nullptr && m_usersSampling == changed->sampling)
        m_usersSampling.reset();
    else if (event.as<ModelLoaded>() != nullptr || event.as<ModelUnloaded>() != nullptr)
        dismissContextQuestion(); // it speaks of the context of another model
    if (!m_answer)
        return;
    if (const auto* recognised = event.as<TaskRecognised>())
        onRecognised(*recognised);
    else if (const auto* step = event.as<StepFinished>())
        onStep(*step);
    else if (const auto* released = event.as<TextReleased>())
        onReleased(*released);
    else if (const auto* finished = event.as<PromptFinished>())
        onFinished(*finished);
}

void ChatSession::onStarted(const PromptStarted& started) {
    if (m_isReplay && started.promptId < kFirstHiddenPrompt)
        beginReplayedAnswer(started);
    if (!m_asked || started.promptId != m_asked->promptId)
        return;
    const AskedPrompt asked = *std::exchange(m_asked, std::nullopt);
    emit promptCounted(started.promptTokens);
    beginRunning(started.promptId);
    StoredMessage* begun = find(asked.leaf);
    if (begun != nullptr && begun->role == MessageRole::Assistant) {
        begun->figures.seed = m_run.sampling().seed;
        goOnWith(*begun, asked.firstStep);
    } else {
        StoredMessage answer = beginAnswer(asked.leaf);
        answer.figures.seed = m_run.sampling().seed;
        m_answer->messageId = append(std::move(answer));
        m_prompts[m_answer->messageId] = {m_answer->promptId, 0};
    }
    emit stateChanged();
}

void ChatSession::beginRunning(std::uint64_t promptId) {
    m_answer.emplace();
    m_answer->promptId = promptId;
    m_answer->sinceUpdate.start();
}

/// The figures so far; the final ones add to them.
void ChatSession::showProgress(StoredMessage& answer, const StepFinished& step) {
    addSpeed(answer.figures);
    answer.figures.outputTokens = static_cast<int>(answer.tokens.size()) - m_answer->firstToken;
    answer.figures.steps = step.step + 1;
}

/// The figures that the other views show for this answer.
void ChatSession::addSpeed(MessageFigures& figures) const {
    const SpanFigures answer = m_run.speed().answer();
    figures.acceptedTokens = answer.sums.accepted;
    figures.draftSteps = answer.sums.draftSteps;
    figures.tokensPerStep = answer.sums.tokensPerRound();
    figures.tokensPerSecond = answer.tokensPerSecond();
    figures.baselineTokensPerSecond.reset();
    figures.speedup.reset();
    if (!answer.baselineMs)
        return;
    figures.baselineTokensPerSecond = 1e3 / *answer.baselineMs;
    if (answer.isDrafting())
        figures.speedup = answer.speedup();
}

/// Shown with the next figures.
void ChatSession::onRecognised(const TaskRecognised& recognised) {
    StoredMessage* answer =
        recognised.promptId == m_answer->promptId ? find(m_answer->messageId) : nullptr;
    if (answer == nullptr)
        return;
    answer->figures.task = QString::fromStdString(recognised.task);
    answer->figures.taskLikeness =
        recognised.isNew ? std::nullopt : std::optional(recognised.likeness);
}

/// What is known of an answer before its first token.
StoredMessage ChatSession::beginAnswer(MessageId parent) const {
    StoredMessage answer;
    answer.parentId = parent;
    answer.role = MessageRole::Assistant;
    answer.state = MessageState::Streaming;
    if (const ModelLoaded* model = m_run.model())
        answer.figures.modelName = QString::fromStdString(model->model.name);
    if (const DecoderInfo* decoder = m_run.decoder())
        answer.figures.decoderName = QString::fromStdString(decoder->name);
    return answer;
}

/// The newest answer, if this goes on with it; null if the answer that goes on is not there.
StoredMessage* ChatSession::replayedBefore(const PromptStarted& started) {
    StoredMessage* before = find(m_chat.record.leafId);
    if (!started.continuesLast || before == nullptr || before->role != MessageRole::Assistant)
        return nullptr;
    const StoredMessage* question = message(before->parentId);
    const bool isOther = question != nullptr && question->role == MessageRole::User &&
                         question->text != QString::fromStdString(started.question);
    return isOther ? nullptr : before;
}

/// It may have been cut, at a token that another one was chosen for, or have another text by now.
/// It keeps its tokens where the text ends with one of them, as when it was edited.
void ChatSession::takeUpReplayed(StoredMessage& answer, const PromptStarted& started) {
    if (!started.begunText) // an older recording
        return;
    const QString text = QString::fromStdString(*started.begunText);
    const qsizetype count = answer.tokens.size();
    answer.tokens.removeIf([&](const TokenTrace& token) { return token.end > text.size(); });
    const int end = answer.tokens.isEmpty() ? 0 : answer.tokens.last().end;
    const bool isBeginning = end == text.size() && answer.text.startsWith(text);
    if (!isBeginning)
        answer.tokens.clear();
    answer.text = text;
    if (answer.tokens.size() == count)
        return;
    MessageFigures begun;
    begun.modelName = answer.figures.modelName;
    begun.promptTokens = answer.figures.promptTokens;
    const bool hasChosen = started.promptTokens - begun.promptTokens == answer.tokens.size() + 1;
    if (isBeginning && hasChosen) { // its text comes with the first step
        TokenTrace& chosen = answer.tokens.emplaceBack();
        chosen.begin = chosen.end = end;
        chosen.step = kChosenByUser;
    }
    answer.figures = begun;
}

/// Older recordings hold answers without the words they answer.
void ChatSession::beginReplayedAnswer(const PromptStarted& started) {
    m_chat.record.title = tr("Recording");
    if (StoredMessage* before = replayedBefore(started)) {
        beginRunning(started.promptId);
        takeUpReplayed(*before, started);
        goOnWith(*before, started.firstStep);
        emit stateChanged();
        return;
    }
    if (!started.question.empty()) {
        StoredMessage question;
        question.parentId = m_chat.record.leafId;
        question.text = QString::fromStdString(started.question);
        append(std::move(question));
    }
    StoredMessage answer = beginAnswer(m_chat.record.leafId);
    answer.text = QString::fromStdString(started.begunText.value_or(std::string()));
    beginRunning(started.promptId);
    m_answer->firstStep = started.firstStep;
    m_answer->messageId = append(std::move(answer));
    m_prompts[m_answer->messageId] = {m_answer->promptId, 0, started.firstStep};
    emit stateChanged();
}

void ChatSession::onStep(const StepFinished& step) {
    if (step.promptId != m_answer->promptId)
        return;
    StoredMessage* answer = find(m_answer->messageId);
    if (answer == nullptr)
        return;
    // What came before the first step of a continued answer is its last token's text.
    if (!m_answer->hasStep && m_answer->firstToken > 0)
        answer->tokens.last().end = static_cast<int>(answer->text.size());
    m_answer->hasStep = true;
    const double stepMs = step.draftMs + step.verifyMs + step.searchMs + step.otherMs;
    for (const EmittedToken& token : step.tokens) {
        const int begin = static_cast<int>(answer->text.size());
        answer->text += QString::fromStdString(token.text);
        answer->tokens.push_back({token.id,
                                  begin,
                                  static_cast<int>(answer->text.size()),
                                  token.fact,
                                  m_answer->firstStep + step.step,
                                  stepMs,
                                  {token.choices.begin(), token.choices.end()}});
    }
    showProgress(*answer, step);
    if (!m_isReplay && m_answer->sinceUpdate.elapsed() >= kUpdateMs) {
        m_answer->sinceUpdate.start();
        m_store.updateMessage(*answer);
    }
    emit messageGrew(answer->id);
}

void ChatSession::onReleased(const TextReleased& released) {
    if (released.promptId != m_answer->promptId)
        return;
    if (StoredMessage* answer = find(m_answer->messageId)) {
        answer->text += QString::fromStdString(released.text);
        emit messageGrew(answer->id);
    }
}

MessageFigures ChatSession::figuresOf(const PromptFinished& finished) const {
    const GenerationMetrics& generation = finished.generation;
    MessageFigures figures;
    figures.promptTokens = generation.promptTokens;
    figures.outputTokens = generation.outputTokens;
    figures.steps = generation.steps;
    figures.finishReason = QString::fromUtf8(finishReasonName(finished.reason).data());
    if (generation.outputTokens == 0 || generation.decodeMs <= 0.0)
        return figures;
    figures.firstTokenMs = generation.firstTokenMs;
    figures.decodeMs = generation.decodeMs;
    addSpeed(figures);
    return figures;
}

/// For a continued answer, the figures cover the new part, like *this answer* in all other views.
/// If nothing was added, the earlier figures stay.
void ChatSession::takeFigures(StoredMessage& answer,
                              const PromptFinished& finished,
                              const RunningAnswer& done) {
    const MessageFigures begun = answer.figures;
    const bool goesOn = done.firstToken > 0;
    const MessageFigures figures = figuresOf(finished);
    if (!goesOn || figures.outputTokens > 0)
        answer.figures = figures;
    answer.figures.finishReason = figures.finishReason;
    answer.figures.modelName = begun.modelName;
    answer.figures.decoderName = begun.decoderName;
    answer.figures.seed = begun.seed;
    answer.figures.task = begun.task;
    answer.figures.taskLikeness = begun.taskLikeness;
    if (goesOn && begun.promptTokens > 0)
        answer.figures.promptTokens = begun.promptTokens;
}

/// The replay goes back, so all events come again.
void ChatSession::onRewound() {
    m_leftAnswer.reset();
    m_answer.reset();
    m_prompts.clear();
    m_chat = {};
    emit shown();
    emit stateChanged();
}

void ChatSession::onFinished(const PromptFinished& finished) {
    if (finished.promptId != m_answer->promptId)
        return;
    const RunningAnswer done = *m_answer;
    m_answer.reset();
    if (done.isSummary) {
        if (finished.reason != FinishReason::Cancelled)
            continueWithSummary(QString::fromStdString(finished.text).trimmed());
        emit stateChanged();
        return;
    }
    if (StoredMessage* answer = find(done.messageId)) {
        takeFigures(*answer, finished, done);
        finishMessage(*answer, stateOf(finished.reason), done);
    }
    emit stateChanged();
}

/// Where nothing came to an answer that went on, its figures are those of the decoder before.
void ChatSession::finishMessage(StoredMessage& message,
                                MessageState state,
                                const RunningAnswer& done) {
    QString& decoder = message.figures.decoderName;
    const bool isOld = !done.hasStep && !done.decoderBefore.isEmpty();
    const bool isOther = isOld && std::exchange(decoder, done.decoderBefore) != done.decoderBefore;
    message.state = state;
    if (!m_isReplay)
        m_store.finishMessage(message);
    emit messageFinished(message.id);
    if (isOther && this->message(done.messageId) != nullptr)
        emit shown();
}

void ChatSession::onFailed(const EngineFailed& failure) {
    if (failure.task == "change_sampling")
        m_usersSampling.reset(); // what the run has stays, and is the user's to change
    if (failure.task != "submit_prompt")
        return;
    const bool isAsked = m_asked && failure.promptId == m_asked->promptId;
    const bool isAnswer = m_answer && failure.promptId == m_answer->promptId;
    if (!isAsked && !isAnswer)
        return;
    if (isAsked) {
        const AskedPrompt asked = *std::exchange(m_asked, std::nullopt);
        if (failure.promptTokens > 0) {
            onTooLong(failure, asked);
            return;
        }
        showAnswersOf(asked.leaf);
    }
    if (isAnswer) {
        const RunningAnswer done = *std::exchange(m_answer, std::nullopt);
        if (StoredMessage* answer = find(done.messageId))
            finishMessage(*answer,
                          failure.error.code == ErrorCode::Cancelled ? MessageState::Stopped
                                                                     : MessageState::Failed,
                          done);
    }
    if (failure.error.code != ErrorCode::Cancelled)
        emit failed(QString::fromStdString(failure.error.message),
                    QString::fromStdString(failure.error.hint));
    emit stateChanged();
}

} // namespace ui
