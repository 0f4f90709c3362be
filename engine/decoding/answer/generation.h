// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/forward_clock.h"
#include "engine/decoding/answer/generation_metrics.h"
#include "engine/decoding/answer/stop_strings.h"
#include "engine/decoding/decoder.h"
#include "engine/sampling/grammar/grammar.h"
#include "engine/text/token_stream.h"
#include "engine/text/tokenizer.h"

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace engine {

/// When an answer ends.
struct GenerationLimits {
    int maxTokens = 256;
    std::vector<TokenId> endIds = {};          ///< the end id met is the last token of the answer
    std::vector<std::string> stopStrings = {}; ///< the text ends before the first one that appears
};

/// What to generate from. What it refers to outlives the answer.
struct GenerationRequest {
    std::span<const TokenId> prompt;
    /// An answer that goes on: its ids so far, which decide how the new text joins the old one.
    std::span<const TokenId> begun = {};
    std::string_view begunText =
        {};                ///< what is told of their text already; LateText tells the rest
    std::string task = {}; ///< whose search state the decoder shall use
    GenerationLimits limits = {};
    const Tokenizer* tokenizer = nullptr; ///< null: ids only, stop strings cannot be used
    std::shared_ptr<const TokenTrie> vocabulary = nullptr; ///< see Prompt
    Grammar grammar = {};                                  ///< of the decoder's sampling options
    std::function<void(double)> onPrompt = {}; ///< told the part of the prompt that is read
    PromptRow* promptRow = nullptr;            ///< see PromptWork::lastRow
    std::stop_token stop = {}; ///< takes effect after the current pass; what is there is returned
};

struct GenerationResult {
    std::vector<TokenId> tokens; ///< new ids, the end id included when met
    std::string text;            ///< special tokens left out; empty without a tokenizer
    FinishReason reason = FinishReason::MaxTokens;
    bool isInsideGrammar = false; ///< the text ended before its grammar was complete
    GenerationMetrics metrics;
};

/// A piece of the prompt was read, or the last of it.
struct PromptPiece {};

/// A step, its tokens cut at the answer's end.
struct AnswerStep {
    DecodeStep step;
    std::vector<std::string> pieces = {}; ///< [step.tokens] the text that each made certain
    double stepMs = 0.0;                  ///< wall-clock, the search included
    bool isBaseline = false;              ///< a plain step that was asked for

    std::string text() const;
};

/// Text that belongs to no step: of tokens an answer begins with, or held back until its end
/// because a stop string might have begun with it.
struct LateText {
    std::string text;
};

/// What the decoder did when the answer had ended, or before a step that was cancelled.
struct AnswerEnd {
    SearchReport report;
};

using AnswerPart = std::variant<PromptPiece, AnswerStep, LateText, AnswerEnd>;

/// One answer of a decoder, made part by part as it is asked for. Thread: engine.
class Answer {
public:
    /// Nothing is read yet. Errors: InvalidInput for limits that make no sense.
    static Result<Answer> begin(Decoder& decoder, GenerationRequest request);

    /// Makes the next part; none when the answer is over. `isBaseline` lets the full model alone
    /// make the step (Decoder::plainStep), if the part is one. Errors: those of Decoder. The answer
    /// is over after an error.
    Result<std::optional<AnswerPart>> next(bool isBaseline = false);

    /// Leaves out time that others have used between two parts: it is not part of firstTokenMs.
    void leaveOut(double ms) {
        m_start += std::chrono::duration_cast<ForwardClock::duration>(
            std::chrono::duration<double, std::milli>(ms));
    }

    /// All that has come.
    const GenerationResult& result() const { return m_result; }

private:
    enum class Stage { Prompt, Steps, End, Text, Over };

    Answer(Decoder& decoder, GenerationRequest request);
    Result<bool> readPiece();
    int begunTokens() const;
    Result<void> takeUpText();
    Result<std::optional<AnswerPart>> makeNext(bool isBaseline);
    std::optional<FinishReason> reasonBeforeStep() const;
    Result<std::optional<AnswerStep>> oneStep(bool isBaseline);
    void noteEnd(std::span<const TokenId> tokens);
    Result<std::optional<AnswerEnd>> endAnswer();
    Result<std::string> lastText();
    Result<bool> isInsideGrammar() const;
    Result<std::string> textOf(TokenId id);
    Result<std::string> pieceOf(TokenId id);

    Decoder* m_decoder;
    GenerationRequest m_request;
    StopStringFilter m_stops;
    std::optional<TokenStream> m_stream; // none without a tokenizer
    std::string m_begunRest;             // of an answer that goes on, not told yet
    std::optional<FinishReason> m_finished;
    GenerationResult m_result;
    Stage m_stage = Stage::Prompt;
    ForwardClock::time_point m_start = ForwardClock::now();
};

/// The whole answer at once. Errors: as Answer.
Result<GenerationResult> generate(Decoder& decoder, GenerationRequest request);

} // namespace engine
