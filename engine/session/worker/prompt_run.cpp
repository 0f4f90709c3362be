// SPDX-License-Identifier: Apache-2.0
#include "engine/session/worker/prompt_run.h"

#include "engine/session/asides.h"
#include "engine/session/worker/events/search_events.h"
#include "engine/session/worker/events/step_texts.h"
#include "engine/session/worker/prompt_text.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace engine {

namespace {

std::vector<EmittedToken> emittedTokens(const AnswerStep& made, const Tokenizer* tokenizer) {
    const DecodeStep& step = made.step;
    std::vector<EmittedToken> tokens;
    for (std::size_t i = 0; i < step.tokens.size(); ++i) {
        tokens.push_back({step.tokens[i], made.pieces[i], step.facts[i]});
        if (i < step.chances.size())
            tokens.back().choices = tokenChoices(step.chances[i], tokenizer);
    }
    return tokens;
}

/// What is told of an answer that goes on; none where none does.
std::optional<std::string> begunTextOf(const SubmitPrompt& command) {
    return command.continuesLast ? std::optional(command.messages.back().content) : std::nullopt;
}

Error tooLongError(int tokens, int contextLength, int room) {
    const int kept = contextLength - room;
    return {ErrorCode::InvalidInput,
            fmt::format("The prompt has {} tokens, but the context holds {}, {} of them for the "
                        "answer.",
                        tokens,
                        contextLength,
                        kept == 1 ? "one" : std::to_string(kept)),
            "Shorten the prompt or raise --context (up to what the model was made for)."};
}

} // namespace

Result<void> PromptRun::begin() {
    ENGINE_TRY_DO(makePrompt());
    ENGINE_TRY(Decoder* const decoder, m_setup.slot.ready(m_setup.ground));
    emit(PromptStarted{m_setup.command.promptId,
                       m_setup.command.task,
                       static_cast<int>(m_prompt.size()),
                       m_setup.slot.reusableTokens(m_prompt),
                       questionOf(m_setup.command),
                       m_setup.command.continuesLast,
                       m_setup.command.firstStep,
                       begunTextOf(m_setup.command)});
    ENGINE_TRY(Answer answer, Answer::begin(*decoder, request()));
    m_answer.emplace(std::move(answer));
    return {};
}

Result<bool> PromptRun::advance() {
    auto goesOn = makePart();
    if (!goesOn)
        dropAfter(goesOn.error());
    return goesOn;
}

/// A refused prompt has changed nothing; the search is kept.
void PromptRun::dropAfter(const Error& error) {
    if (error.code != ErrorCode::InvalidInput || m_stepCount > 0)
        m_setup.slot.drop();
}

/// Only a prompt that is too long is counted message by message.
Result<void> PromptRun::makePrompt() {
    const SubmitPrompt& command = m_setup.command;
    ENGINE_TRY(PromptTokens prompt, promptTokens(command, m_setup.model));
    m_prompt = std::move(prompt.ids);
    m_begun = std::move(prompt.begun);
    const int room = promptRoom(m_setup.model.contextLength, command.answerRoom);
    return static_cast<int>(m_prompt.size()) <= room ? Result<void>() : leaveOut(room);
}

/// The prompt without the messages that the policy leaves out; it is refused if that is not enough.
Result<void> PromptRun::leaveOut(int room) {
    const SubmitPrompt& command = m_setup.command;
    const int contextLength = m_setup.model.contextLength;
    PromptCount count{static_cast<int>(m_prompt.size()), {}};
    if (!command.messages.empty()) {
        ENGINE_TRY(count,
                   countTokens({0, command.messages, "", command.continuesLast}, m_setup.model));
    }
    const std::size_t first =
        !command.messages.empty() && command.messages.front().role == "system" ? 1 : 0;
    const std::span<const int> perMessage = std::span(count.perMessage).subspan(first);
    const int overhead = count.total - std::accumulate(perMessage.begin(), perMessage.end(), 0);
    const ContextFit fit = fitContext(command.policy, perMessage, overhead, room);
    m_tooLong = std::move(count);
    if (!fit.isEnough)
        return tooLongError(m_tooLong->total, contextLength, room);
    SubmitPrompt shorter = command;
    shorter.messages.clear();
    for (std::size_t i = 0; i < command.messages.size(); ++i)
        if (i < first || fit.isSent[i - first])
            shorter.messages.push_back(command.messages[i]);
    ENGINE_TRY(PromptTokens prompt, promptTokens(shorter, m_setup.model));
    m_prompt = std::move(prompt.ids);
    m_begun = std::move(prompt.begun);
    // Where separate texts become adjacent, the tokens may differ from those counted.
    if (static_cast<int>(m_prompt.size()) >= contextLength)
        return tooLongError(m_tooLong->total, contextLength, room);
    m_tooLong.reset();
    return {};
}

Result<bool> PromptRun::makePart() {
    ENGINE_TRY(const std::optional<AnswerPart> part,
               m_answer->next(m_setup.measuresBaseline && m_setup.slot.isBaselineStepNext()));
    if (part) {
        tell(*part);
        return true;
    }
    const GenerationResult& result = m_answer->result();
    std::vector<TokenId> sequence = m_prompt;
    sequence.insert(sequence.end(), result.tokens.begin(), result.tokens.end());
    if (!isAside(m_setup.command.conversation))
        m_setup.lens.note({m_setup.command.promptId, sequence, static_cast<int>(m_prompt.size())});
    m_setup.slot.noteSequence(std::move(sequence));
    tellEnd(result);
    return false;
}

void PromptRun::emit(EventContent content) {
    m_setup.outlet.emit(std::move(content), m_setup.command.conversation);
}

GenerationRequest PromptRun::request() {
    const SubmitPrompt& command = m_setup.command;
    GenerationRequest request;
    request.prompt = m_prompt;
    request.begun = m_begun;
    if (command.continuesLast)
        request.begunText = command.messages.back().content;
    request.task = command.task;
    request.tokenizer = m_setup.model.tokenizer.get();
    request.grammar = m_setup.slot.sampling().grammar;
    if (!request.grammar.isOff())
        request.vocabulary = vocabularyOf(*m_setup.ground.model);
    request.promptRow = m_naming.row();
    request.stop = m_setup.stop;
    request.limits = {
        command.maxTokens, m_setup.model.transformer->config().eosIds, command.stopStrings};
    if (const Tokenizer* tokenizer = request.tokenizer) {
        const auto ends = command.messages.empty() ? tokenizer->eosIds() : chatEndIds(*tokenizer);
        request.limits.endIds.insert(request.limits.endIds.end(), ends.begin(), ends.end());
    }
    request.onPrompt = [this](double part) {
        emit(PromptProgress{m_setup.command.promptId, part});
    };
    return request;
}

void PromptRun::tell(const AnswerPart& part) {
    if (const auto* made = std::get_if<AnswerStep>(&part)) {
        tellStep(*made);
    } else if (const auto* late = std::get_if<LateText>(&part)) {
        emit(TextReleased{m_setup.command.promptId, late->text});
    } else if (const auto* end = std::get_if<AnswerEnd>(&part)) {
        m_metrics.addSearch(end->report.searchMs);
        m_setup.slot.metrics().addSearch(end->report.searchMs);
        tellSearch(end->report, true);
    }
}

/// Search events first: a plan must be known before a step that drafted with it.
void PromptRun::tellStep(const AnswerStep& made) {
    const DecodeStep& step = made.step;
    if (m_stepCount == 0)
        if (auto recognised = m_naming.recognise(m_prompt))
            emit(*std::move(recognised));
    m_setup.slot.add(step, made.stepMs, made.isBaseline);
    if (made.isBaseline)
        m_metrics.addBaseline(step, made.stepMs);
    else
        m_metrics.add(step, made.stepMs);
    m_tokenCount += step.tokens.size();
    m_decodeMs += made.stepMs;
    tellSearch(step.search, !made.isBaseline);
    const double namedMs = step.draftMs + step.verifyMs + step.search.searchMs;
    const auto confidences = step.draft.confidences();
    const auto nodes = step.draft.nodes();
    const Tokenizer* const tokenizer = m_setup.model.tokenizer.get();
    emit(StepFinished{
        .promptId = m_setup.command.promptId,
        .step = m_stepCount++,
        .text = made.text(),
        .tokens = emittedTokens(made, tokenizer),
        .draft = {nodes.begin(), nodes.end()},
        .draftTexts = draftTexts(step.draft, tokenizer),
        .rowChoices = tokenChoices(step.rowChoices, tokenizer),
        .path = step.path,
        .draftEnd = step.draft.end(),
        .confidences = {confidences.begin(), confidences.end()},
        .sides = step.sides,
        .sideTexts = sideTexts(step.sides, tokenizer),
        .tables = shownTables(step.tables, tokenizer),
        .planId = step.planId,
        .isBaseline = made.isBaseline,
        .verifiedRows = step.verifiedRows,
        .draftLayers = step.draftLayers,
        .verifyLayers = step.verifyLayers,
        .drafter = std::string(step.choice.drafter),
        .expectedTokens = step.choice.drafter.empty() ? 0.0 : step.choice.expectedTokens,
        .expectedCost = step.choice.drafter.empty() ? 0.0 : step.choice.expectedCost,
        .refusedDrafter = std::string(step.choice.refused),
        .refusedTokens = step.choice.refused.empty() ? 0.0 : step.choice.refusedTokens,
        .refusedCost = step.choice.refused.empty() ? 0.0 : step.choice.refusedCost,
        .plainMs = step.choice.plainMs,
        .isProbe = step.choice.isProbe,
        .draftMs = step.draftMs,
        .verifyMs = step.verifyMs,
        .searchMs = step.search.searchMs,
        .otherMs = std::max(0.0, made.stepMs - namedMs),
        .tokensPerSecond =
            m_decodeMs > 0.0 ? static_cast<double>(m_tokenCount) / m_decodeMs * 1e3 : 0.0});
    tellStatistics(m_tokenCount);
}

void PromptRun::tellStatistics(std::size_t tokens) {
    emit(Statistics{static_cast<int>(m_prompt.size() + tokens),
                    m_setup.model.contextLength,
                    m_setup.promptsFinished,
                    m_setup.slot.baselineStepMs(),
                    m_setup.slot.metrics()});
}

/// Plain baseline steps say nothing about the decoder's phase.
void PromptRun::tellSearch(const SearchReport& report, bool tellsPhase) {
    const std::string& task = m_setup.command.task;
    engine::tellSearch(report,
                       task,
                       m_setup.model.tokenizer.get(),
                       tellsPhase && m_setup.slot.entersPhase(report.phase, task),
                       m_setup.outlet,
                       m_setup.command.conversation);
}

void PromptRun::tellEnd(const GenerationResult& result) {
    if (std::string note = m_naming.learn(); !note.empty())
        emit(Note{std::move(note)});
    emit(PromptFinished{m_setup.command.promptId,
                        result.tokens,
                        result.text,
                        result.reason,
                        result.metrics,
                        m_metrics,
                        result.isInsideGrammar});
    ++m_setup.promptsFinished;
    tellStatistics(result.tokens.size());
}

} // namespace engine
