// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/answer/generation.h"

#include "engine/sampling/grammar/grammar_matcher.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace engine {

namespace {

using Clock = ForwardClock;

double millisecondsSince(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

} // namespace

std::string AnswerStep::text() const {
    std::string all;
    for (const std::string& piece : pieces)
        all += piece;
    return all;
}

Answer::Answer(Decoder& decoder, GenerationRequest request)
    : m_decoder(&decoder)
    , m_request(std::move(request))
    , m_stops(m_request.limits.stopStrings) {
    if (m_request.tokenizer != nullptr)
        m_stream.emplace(*m_request.tokenizer, true);
}

Result<Answer> Answer::begin(Decoder& decoder, GenerationRequest request) {
    if (request.limits.maxTokens < 0)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The number of tokens to make is {}, but must not be negative.",
                                 request.limits.maxTokens),
                     "Give --max-tokens a positive number."};
    if (request.tokenizer == nullptr && !request.limits.stopStrings.empty())
        return Error{ErrorCode::InvalidInput,
                     "Stop strings need a tokenizer, and this model has none.",
                     "Leave --stop out, or add the model's tokenizer file."};
    Answer answer(decoder, std::move(request));
    answer.m_result.metrics.promptTokens = static_cast<int>(answer.m_request.prompt.size());
    return answer;
}

/// Whether the prompt is read now; a cancelled one counts as read.
Result<bool> Answer::readPiece() {
    const auto start = Clock::now();
    const Prompt prompt{.tokens = m_request.prompt,
                        .maxTokens = m_request.limits.maxTokens,
                        .endIds = m_request.limits.endIds,
                        .task = m_request.task,
                        .vocabulary = m_request.vocabulary,
                        .begunTokens = begunTokens()};
    const PromptWork work{
        .stop = m_request.stop, .progress = m_request.onPrompt, .lastRow = m_request.promptRow};
    auto goesOn = m_decoder->readAhead(prompt, work);
    if (goesOn && !goesOn.value())
        if (auto begun = m_decoder->begin(prompt, work); !begun)
            goesOn = std::move(begun).error();
    m_result.metrics.promptMs += millisecondsSince(start);
    if (!goesOn && goesOn.error().code != ErrorCode::Cancelled)
        return std::move(goesOn).error();
    return !goesOn || !goesOn.value();
}

int Answer::begunTokens() const {
    const std::span<const TokenId> begun = m_request.begun;
    const std::span<const TokenId> prompt = m_request.prompt;
    const bool endsPrompt =
        begun.size() < prompt.size() && std::equal(begun.rbegin(), begun.rend(), prompt.rbegin());
    return endsPrompt ? static_cast<int>(begun.size()) : 0;
}

/// A text that differs from what its ids say (it was edited) leaves nothing to tell.
Result<void> Answer::takeUpText() {
    std::string text;
    for (const TokenId id : m_request.begun)
        if (m_stream) {
            ENGINE_TRY(const std::string piece, pieceOf(id));
            text += piece;
        }
    if (!std::string_view(text).starts_with(m_request.begunText))
        return {};
    m_begunRest = m_stops.push(text.substr(m_request.begunText.size()));
    m_result.text += m_begunRest;
    if (m_stops.hasHit())
        m_finished = FinishReason::StopString;
    return {};
}

Result<std::optional<AnswerPart>> Answer::next(bool isBaseline) {
    auto part = makeNext(isBaseline);
    if (!part)
        m_stage = Stage::Over;
    return part;
}

Result<std::optional<AnswerPart>> Answer::makeNext(bool isBaseline) {
    using Part = std::optional<AnswerPart>;
    if (m_stage == Stage::Prompt) {
        ENGINE_TRY(const bool isRead, readPiece());
        if (isRead) {
            m_stage = Stage::Steps;
            ENGINE_TRY_DO(takeUpText());
        }
        return Part(PromptPiece());
    }
    if (!m_begunRest.empty())
        return Part(LateText{std::exchange(m_begunRest, {})});
    while (m_stage == Stage::Steps) {
        if (const auto reason = reasonBeforeStep()) {
            m_result.reason = *reason;
            m_stage = Stage::End;
            break;
        }
        ENGINE_TRY(std::optional<AnswerStep> step, oneStep(isBaseline));
        if (step)
            return Part(std::move(*step));
    }
    if (m_stage == Stage::End) {
        m_stage = Stage::Text;
        ENGINE_TRY(std::optional<AnswerEnd> end, endAnswer());
        if (end)
            return Part(std::move(*end));
    }
    if (std::exchange(m_stage, Stage::Over) == Stage::Text) {
        ENGINE_TRY(m_result.isInsideGrammar, isInsideGrammar());
        ENGINE_TRY(std::string text, lastText());
        if (!text.empty())
            return Part(LateText{std::move(text)});
    }
    return Part();
}

std::optional<FinishReason> Answer::reasonBeforeStep() const {
    if (m_finished)
        return m_finished;
    if (m_request.stop.stop_requested())
        return FinishReason::Cancelled;
    if (static_cast<int>(m_result.tokens.size()) >= m_request.limits.maxTokens)
        return FinishReason::MaxTokens;
    if (m_decoder->remainingContext() <= 0)
        return FinishReason::ContextFull;
    return std::nullopt;
}

/// None when it was cancelled.
Result<std::optional<AnswerStep>> Answer::oneStep(bool isBaseline) {
    const auto stepStart = Clock::now();
    auto stepped = isBaseline ? m_decoder->plainStep() : m_decoder->step();
    if (!stepped) {
        if (stepped.error().code != ErrorCode::Cancelled)
            return std::move(stepped).error();
        m_finished = FinishReason::Cancelled;
        m_result.metrics.decodeMs += millisecondsSince(stepStart);
        return std::optional<AnswerStep>();
    }
    AnswerStep made{.step = std::move(stepped).value(), .isBaseline = isBaseline};
    DecodeStep& step = made.step;
    made.stepMs = std::max(0.0, millisecondsSince(stepStart) - step.promptMs);
    m_result.metrics.promptMs += step.promptMs;
    m_result.metrics.decodeMs += made.stepMs;
    if (m_result.metrics.steps++ == 0)
        m_result.metrics.firstTokenMs = millisecondsSince(m_start);
    noteEnd(step.tokens);
    for (std::size_t i = 0; i < step.tokens.size(); ++i) {
        ENGINE_TRY(std::string piece, textOf(step.tokens[i]));
        m_result.text += piece;
        made.pieces.push_back(std::move(piece));
        if (m_stops.hasHit()) {
            step.cutTo(i + 1);
            m_finished = FinishReason::StopString;
        }
    }
    m_result.tokens.insert(m_result.tokens.end(), step.tokens.begin(), step.tokens.end());
    m_result.metrics.outputTokens = static_cast<int>(m_result.tokens.size());
    return std::optional(std::move(made));
}

/// The decoder itself ends an answer, behind its end id and at its maximum.
void Answer::noteEnd(std::span<const TokenId> tokens) {
    const auto& endIds = m_request.limits.endIds;
    const auto end = std::find_first_of(tokens.begin(), tokens.end(), endIds.begin(), endIds.end());
    ENGINE_CHECK(!tokens.empty() && (end == tokens.end() || end + 1 == tokens.end()) &&
                     m_result.tokens.size() + tokens.size() <=
                         static_cast<std::size_t>(m_request.limits.maxTokens),
                 "a step of {} tokens goes beyond the answer's end",
                 tokens.size());
    if (end != tokens.end())
        m_finished = FinishReason::EndToken;
}

/// What the decoder still wants to learn from this answer is part of its cost. Of an answer or an
/// end that was cancelled: what was done before that, if anything was.
Result<std::optional<AnswerEnd>> Answer::endAnswer() {
    using End = std::optional<AnswerEnd>;
    if (m_result.reason != FinishReason::Cancelled) {
        const auto start = Clock::now();
        auto report = m_decoder->endAnswer();
        m_result.metrics.decodeMs += millisecondsSince(start);
        if (report)
            return End(AnswerEnd{std::move(report).value()});
        if (report.error().code != ErrorCode::Cancelled)
            return std::move(report).error();
    }
    SearchReport report = m_decoder->takeReport();
    return report.isEmpty() ? End() : End(AnswerEnd{std::move(report)});
}

Result<std::string> Answer::lastText() {
    if (!m_stream)
        return std::string();
    ENGINE_TRY(const std::string rest, m_stream->finish());
    std::string last = m_stops.push(rest);
    if (!m_stops.hasHit())
        last += m_stops.finish();
    m_result.text += last;
    return last;
}

/// Whether the grammar wants more behind the text, to which what a stop string has cut off does not
/// belong.
Result<bool> Answer::isInsideGrammar() const {
    if (m_request.grammar.isOff() || m_request.vocabulary == nullptr ||
        m_result.reason == FinishReason::EndToken) // it stands only where the grammar can end
        return false;
    std::string text;
    const TokenTrie& vocabulary = *m_request.vocabulary;
    const auto& endIds = m_request.limits.endIds;
    const auto add = [&](std::span<const TokenId> ids) {
        for (const TokenId id : ids)
            if (std::find(endIds.begin(), endIds.end(), id) == endIds.end())
                text += (text.empty() ? vocabulary.first() : vocabulary).bytesOf(id);
    };
    add(m_request.begun.last(static_cast<std::size_t>(begunTokens())));
    add(m_result.tokens);
    text.resize(text.size() - std::min(text.size(), m_stops.cutBytes()));
    ENGINE_TRY(auto graph, makeGrammarGraph(m_request.grammar));
    GrammarMatcher matcher(std::move(graph));
    auto state = matcher.start();
    for (const char byte : text)
        state = matcher.next(state, static_cast<std::uint8_t>(byte));
    return !matcher.canEnd(state);
}

Result<std::string> Answer::textOf(TokenId id) {
    if (!m_stream)
        return std::string();
    ENGINE_TRY(const std::string piece, pieceOf(id));
    return m_stops.push(piece);
}

/// A model may have more ids than its tokenizer has tokens: its matrices are padded to a round
/// size. Such an id writes nothing.
Result<std::string> Answer::pieceOf(TokenId id) {
    if (id >= m_request.tokenizer->vocabSize())
        return std::string();
    return m_stream->push(id);
}

Result<GenerationResult> generate(Decoder& decoder, GenerationRequest request) {
    ENGINE_TRY(Answer answer, Answer::begin(decoder, std::move(request)));
    while (true) {
        ENGINE_TRY(const std::optional<AnswerPart> part, answer.next());
        if (!part)
            return answer.result();
    }
}

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

} // namespace engine
