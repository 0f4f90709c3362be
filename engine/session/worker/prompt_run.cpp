// SPDX-License-Identifier: Apache-2.0
#include "engine/session/worker/prompt_run.h"

#include "engine/session/worker/prompt_text.h"
#include "engine/session/worker/search_events.h"
#include "engine/session/worker/step_texts.h"

#include <algorithm>

namespace engine {

namespace {

std::vector<EmittedToken> emittedTokens(const StepDetails& details, const Tokenizer* tokenizer) {
    const DecodeStep& step = details.step;
    std::vector<EmittedToken> tokens;
    for (std::size_t i = 0; i < step.tokens.size(); ++i) {
        tokens.push_back({step.tokens[i], details.pieces[i], step.facts[i]});
        if (i < step.chances.size())
            tokens.back().choices = tokenChoices(step.chances[i], tokenizer);
    }
    return tokens;
}

} // namespace

Result<void> PromptRun::run() {
    ENGINE_TRY(PromptTokens prompt, promptTokens(m_setup.command, m_setup.model));
    m_prompt = std::move(prompt.ids);
    m_begun = std::move(prompt.begun);
    ENGINE_TRY(Decoder* const decoder, m_setup.slot.ready(m_setup.ground));
    m_setup.outlet.emit(PromptStarted{m_setup.command.promptId,
                                      m_setup.command.task,
                                      static_cast<int>(m_prompt.size()),
                                      m_setup.slot.reusableTokens(m_prompt),
                                      questionOf(m_setup.command)});
    auto result = generate(*decoder, request());
    if (!result) {
        // A prompt that is refused has touched nothing; what was searched stays.
        const bool isRefused = result.error().code == ErrorCode::InvalidInput && m_stepCount == 0;
        const int tokens = static_cast<int>(m_prompt.size());
        if (!isRefused)
            m_setup.slot.drop();
        else if (tokens >= m_setup.model.contextLength)
            m_tooManyTokens = tokens;
        return std::move(result).error();
    }
    std::vector<TokenId> sequence = m_prompt;
    sequence.insert(sequence.end(), result.value().tokens.begin(), result.value().tokens.end());
    m_setup.slot.noteSequence(std::move(sequence));
    tellEnd(result.value());
    return {};
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
    if (!m_setup.slot.sampling().grammar.isOff())
        request.vocabulary = vocabularyOf(*m_setup.ground.model);
    request.stop = m_setup.stop;
    request.limits = {
        command.maxTokens, m_setup.model.transformer->config().eosIds, command.stopStrings};
    const auto ends =
        command.messages.empty() ? request.tokenizer->eosIds() : chatEndIds(*request.tokenizer);
    request.limits.endIds.insert(request.limits.endIds.end(), ends.begin(), ends.end());
    request.onPrompt = [this](double part) {
        m_setup.outlet.emit(PromptProgress{m_setup.command.promptId, part});
    };
    request.betweenSteps = [this]() -> Result<void> {
        m_metrics.addSearch(m_setup.betweenSteps());
        return {};
    };
    request.isBaselineStep = [this] { return m_setup.slot.takesBaselineStep(); };
    request.onStepDetails = [this](const StepDetails& details) { tellStep(details); };
    request.onStep = [this](const DecodeStep& step, std::string_view text) {
        if (step.tokens.empty())
            m_setup.outlet.emit(TextReleased{m_setup.command.promptId, std::string(text)});
    };
    request.onEnd = [this](const SearchReport& report) {
        m_metrics.addSearch(report.searchMs);
        m_setup.slot.metrics().addSearch(report.searchMs);
        tellSearch(report, true);
    };
    return request;
}

/// The search first: a plan must be known before a step that drafted with it.
void PromptRun::tellStep(const StepDetails& details) {
    const DecodeStep& step = details.step;
    m_setup.slot.add(step, details.stepMs, details.isBaseline);
    const DecodeMetrics& total = m_setup.slot.metrics();
    const double baselineStepMs = m_setup.slot.baselineStepMs();
    if (details.isBaseline)
        m_metrics.addBaseline(step, details.stepMs);
    else
        m_metrics.add(step, details.stepMs);
    m_tokenCount += static_cast<std::int64_t>(step.tokens.size());
    m_decodeMs += details.stepMs;
    tellSearch(step.search, !details.isBaseline);
    const double namedMs = step.draftMs + step.verifyMs + step.search.searchMs;
    const auto confidences = step.draft.confidences();
    const auto nodes = step.draft.nodes();
    const Tokenizer* const tokenizer = m_setup.model.tokenizer.get();
    m_setup.outlet.emit(StepFinished{
        .promptId = m_setup.command.promptId,
        .step = m_stepCount++,
        .text = std::string(details.text),
        .tokens = emittedTokens(details, tokenizer),
        .draft = {nodes.begin(), nodes.end()},
        .draftTexts = draftTexts(step.draft, tokenizer),
        .path = step.path,
        .draftEnd = step.draft.end(),
        .confidences = {confidences.begin(), confidences.end()},
        .sides = step.sides,
        .sideTexts = sideTexts(step.sides, tokenizer),
        .tables = shownTables(step.tables, tokenizer),
        .planId = step.planId,
        .isBaseline = details.isBaseline,
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
        .otherMs = std::max(0.0, details.stepMs - namedMs),
        .tokensPerSecond =
            m_decodeMs > 0.0 ? static_cast<double>(m_tokenCount) / m_decodeMs * 1e3 : 0.0,
        .baselineStepMs = baselineStepMs,
        .total = total});
    m_setup.outlet.emit(
        Statistics{static_cast<int>(m_prompt.size() + static_cast<std::size_t>(m_tokenCount)),
                   m_setup.model.contextLength,
                   m_setup.promptsFinished,
                   baselineStepMs,
                   total});
}

/// Plain steps that were asked for say nothing of the decoder's phase.
void PromptRun::tellSearch(const SearchReport& report, bool tellsPhase) {
    engine::tellSearch(report,
                       m_setup.model.tokenizer.get(),
                       tellsPhase && m_setup.slot.entersPhase(report.phase),
                       m_setup.outlet);
}

void PromptRun::tellEnd(const GenerationResult& result) {
    m_setup.outlet.emit(PromptFinished{m_setup.command.promptId,
                                       result.tokens,
                                       result.text,
                                       result.reason,
                                       result.metrics,
                                       m_metrics,
                                       result.isInsideGrammar});
    m_setup.outlet.emit(Statistics{static_cast<int>(m_prompt.size() + result.tokens.size()),
                                   m_setup.model.contextLength,
                                   m_setup.promptsFinished + 1,
                                   m_setup.slot.baselineStepMs(),
                                   m_setup.slot.metrics()});
}

} // namespace engine
