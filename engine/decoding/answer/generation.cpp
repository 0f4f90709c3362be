// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/answer/generation.h"

#include "engine/base/forward_clock.h"
#include "engine/decoding/answer/stop_strings.h"
#include "engine/text/token_stream.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace engine {

namespace {

using Clock = ForwardClock;

double millisecondsSince(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// One run of a decoder: collects tokens and text and knows when to end.
class Generation {
public:
    Generation(Decoder& decoder, const GenerationRequest& request)
        : m_decoder(decoder)
        , m_request(request)
        , m_stops(request.limits.stopStrings) {
        if (request.tokenizer != nullptr)
            m_stream.emplace(*request.tokenizer, true);
    }

    Result<GenerationResult> run() {
        m_result.metrics.promptTokens = static_cast<int>(m_request.prompt.size());
        const auto begun = m_decoder.begin({.tokens = m_request.prompt,
                                            .maxTokens = m_request.limits.maxTokens,
                                            .endIds = m_request.limits.endIds,
                                            .task = m_request.task,
                                            .vocabulary = m_request.vocabulary,
                                            .begunTokens = begunTokens()},
                                           {m_request.stop, m_request.onPrompt});
        m_result.metrics.promptMs = millisecondsSince(m_start);
        if (!begun && begun.error().code != ErrorCode::Cancelled)
            return begun.error();
        ENGINE_TRY_DO(takeUpText());
        std::optional<FinishReason> reason = reasonBeforeStep();
        while (!reason) {
            ENGINE_TRY_DO(oneStep());
            reason = reasonBeforeStep();
        }
        if (*reason != FinishReason::Cancelled)
            ENGINE_TRY_DO(endAnswer());
        ENGINE_TRY_DO(finishText());
        m_result.reason = *reason;
        return std::move(m_result);
    }

private:
    int begunTokens() const {
        const std::span<const TokenId> begun = m_request.begun;
        const std::span<const TokenId> prompt = m_request.prompt;
        const bool endsPrompt = begun.size() < prompt.size() &&
                                std::equal(begun.rbegin(), begun.rend(), prompt.rbegin());
        return endsPrompt ? static_cast<int>(begun.size()) : 0;
    }

    std::optional<FinishReason> reasonBeforeStep() const {
        if (m_finished)
            return m_finished;
        if (m_request.stop.stop_requested())
            return FinishReason::Cancelled;
        if (static_cast<int>(m_result.tokens.size()) >= m_request.limits.maxTokens)
            return FinishReason::MaxTokens;
        if (m_decoder.remainingContext() <= 0)
            return FinishReason::ContextFull;
        return std::nullopt;
    }

    /// A text that differs from what its ids say (it was edited) leaves nothing to tell.
    Result<void> takeUpText() {
        std::string text;
        for (const TokenId id : m_request.begun)
            if (m_stream) {
                ENGINE_TRY(const std::string piece, pieceOf(id));
                text += piece;
            }
        if (!std::string_view(text).starts_with(m_request.begunText))
            return {};
        const std::string rest = m_stops.push(text.substr(m_request.begunText.size()));
        m_result.text += rest;
        if (m_request.onStep && !rest.empty())
            m_request.onStep({}, rest);
        if (m_stops.hasHit())
            m_finished = FinishReason::StopString;
        return {};
    }

    Result<void> oneStep() {
        if (m_request.betweenSteps)
            ENGINE_TRY_DO(m_request.betweenSteps());
        const bool isBaseline = m_request.isBaselineStep && m_request.isBaselineStep();
        const auto stepStart = Clock::now();
        auto stepped = isBaseline ? m_decoder.plainStep() : m_decoder.step();
        if (!stepped) {
            if (stepped.error().code != ErrorCode::Cancelled)
                return std::move(stepped).error();
            m_finished = FinishReason::Cancelled;
            return {};
        }
        DecodeStep step = std::move(stepped).value();
        const double stepMs = std::max(0.0, millisecondsSince(stepStart) - step.promptMs);
        m_result.metrics.promptMs += step.promptMs;
        m_result.metrics.decodeMs += stepMs;
        if (m_result.metrics.steps++ == 0)
            m_result.metrics.firstTokenMs = millisecondsSince(m_start);
        noteEnd(step.tokens);
        std::vector<std::string> pieces; // [step.tokens]
        for (std::size_t i = 0; i < step.tokens.size(); ++i) {
            ENGINE_TRY(std::string piece, textOf(step.tokens[i]));
            pieces.push_back(std::move(piece));
            if (m_stops.hasHit()) {
                step.cutTo(i + 1);
                m_finished = FinishReason::StopString;
            }
        }
        std::string text;
        for (const std::string& piece : pieces)
            text += piece;
        tell({step, text, pieces, stepMs, isBaseline});
        return {};
    }

    void tell(const StepDetails& details) {
        const DecodeStep& step = details.step;
        m_result.isInsideGrammar = step.isInsideGrammar;
        m_result.tokens.insert(m_result.tokens.end(), step.tokens.begin(), step.tokens.end());
        m_result.metrics.outputTokens = static_cast<int>(m_result.tokens.size());
        m_result.text += details.text;
        if (m_request.onStepDetails)
            m_request.onStepDetails(details);
        if (m_request.onStep)
            m_request.onStep(step, details.text);
    }

    /// The decoder itself ends an answer, behind its end id and at its maximum.
    void noteEnd(std::span<const TokenId> tokens) {
        const auto& endIds = m_request.limits.endIds;
        const auto end =
            std::find_first_of(tokens.begin(), tokens.end(), endIds.begin(), endIds.end());
        ENGINE_CHECK(!tokens.empty() && (end == tokens.end() || end + 1 == tokens.end()) &&
                         m_result.tokens.size() + tokens.size() <=
                             static_cast<std::size_t>(m_request.limits.maxTokens),
                     "a step of {} tokens goes beyond the answer's end",
                     tokens.size());
        if (end != tokens.end())
            m_finished = FinishReason::EndToken;
    }

    /// What the decoder still wants to learn from this answer is part of its cost.
    Result<void> endAnswer() {
        const auto start = Clock::now();
        auto report = m_decoder.endAnswer();
        m_result.metrics.decodeMs += millisecondsSince(start);
        if (!report && report.error().code != ErrorCode::Cancelled)
            return std::move(report).error();
        if (report && m_request.onEnd)
            m_request.onEnd(report.value());
        return {};
    }

    Result<std::string> textOf(TokenId id) {
        if (!m_stream)
            return std::string();
        ENGINE_TRY(const std::string piece, pieceOf(id));
        return m_stops.push(piece);
    }

    /// Errors: InvalidInput for an id that the tokenizer does not know.
    Result<std::string> pieceOf(TokenId id) {
        auto piece = m_stream->push(id);
        if (!piece)
            return Error{
                ErrorCode::InvalidInput,
                fmt::format("The model made token {}, which its tokenizer of {} tokens does "
                            "not know.",
                            id,
                            m_request.tokenizer->vocabSize()),
                "The tokenizer probably belongs to another model; use --prompt-ids to do "
                "without it."};
        return piece;
    }

    Result<void> finishText() {
        if (!m_stream)
            return {};
        ENGINE_TRY(const std::string rest, m_stream->finish());
        std::string last = m_stops.push(rest);
        if (!m_stops.hasHit())
            last += m_stops.finish();
        m_result.text += last;
        if (m_request.onStep && !last.empty())
            m_request.onStep({}, last);
        return {};
    }

    Decoder& m_decoder;
    const GenerationRequest& m_request;
    StopStringFilter m_stops;
    std::optional<TokenStream> m_stream;
    std::optional<FinishReason> m_finished;
    GenerationResult m_result;
    const Clock::time_point m_start = Clock::now();
};

} // namespace

std::string_view finishReasonName(FinishReason reason) {
    switch (reason) {
    case FinishReason::EndToken:
        return "end_token";
    case FinishReason::StopString:
        return "stop_string";
    case FinishReason::MaxTokens:
        return "max_tokens";
    case FinishReason::ContextFull:
        return "context_full";
    case FinishReason::Cancelled:
        return "cancelled";
    }
    return "unknown";
}

Result<GenerationResult> generate(Decoder& decoder, const GenerationRequest& request) {
    if (request.limits.maxTokens < 0)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The number of tokens to make is {}, but must not be negative.",
                                 request.limits.maxTokens),
                     "Give --max-tokens a positive number."};
    if (request.tokenizer == nullptr && !request.limits.stopStrings.empty())
        return Error{ErrorCode::InvalidInput,
                     "Stop strings need a tokenizer, and this model has none.",
                     "Leave --stop out, or add the model's tokenizer file."};
    return Generation(decoder, request).run();
}

} // namespace engine
