// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/answer/generation_metrics.h"
#include "engine/decoding/decoder.h"
#include "engine/text/tokenizer.h"

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// When an answer ends.
struct GenerationLimits {
    int maxTokens = 256;
    std::vector<TokenId> endIds = {};          ///< the end id met is the last token of the answer
    std::vector<std::string> stopStrings = {}; ///< the text ends before the first one that appears
};

struct GenerationResult {
    std::vector<TokenId> tokens; ///< new ids, the end id included when met
    std::string text;            ///< special tokens left out; empty without a tokenizer
    FinishReason reason = FinishReason::MaxTokens;
    bool isInsideGrammar = false; ///< the answer ended before its grammar was complete
    GenerationMetrics metrics;
};

/// Told after each step: its tokens (cut at the answer's end) and the text that became certain.
using GenerationProgress = std::function<void(const DecodeStep& step, std::string_view text)>;

/// One step as it is told to whoever wants all of it. Guests of the call alone.
struct StepDetails {
    const DecodeStep& step;
    std::string_view text;               ///< of all its tokens
    std::span<const std::string> pieces; ///< [step.tokens] the part that each made certain
    double stepMs = 0.0;                 ///< wall-clock, the search included
    bool isBaseline = false;             ///< a plain step that was asked for
};

/// What to generate from, and who is told.
struct GenerationRequest {
    std::span<const TokenId> prompt;
    /// An answer that goes on: its ids so far, which decide how the new text joins the old one.
    std::span<const TokenId> begun = {};
    /// What is told of their text already. The rest is told first, by onStep with an empty step.
    std::string_view begunText = {};
    std::string task = {}; ///< whose search state the decoder shall use
    GenerationLimits limits = {};
    const Tokenizer* tokenizer = nullptr; ///< null: ids only, stop strings cannot be used
    std::shared_ptr<const TokenTrie> vocabulary = nullptr; ///< see Prompt
    std::function<void(double)> onPrompt = {}; ///< told the part of the prompt that is read
    GenerationProgress onStep = {};
    /// Told before onStep; not told of text that was held back to the end.
    std::function<void(const StepDetails&)> onStepDetails = {};
    /// Asked before each step: true lets the full model alone make it (Decoder::plainStep).
    std::function<bool()> isBaselineStep = {};
    /// Called before each step: the moment to change settings. An error ends the answer.
    std::function<Result<void>()> betweenSteps = {};
    std::function<void(const SearchReport&)> onEnd = {}; ///< what the decoder did at the end
    std::stop_token stop = {}; ///< takes effect after the current pass; what is there is returned
};

/// Runs a decoder until the answer ends. Thread: engine.
/// Errors: those of Decoder; InvalidInput for limits that make no sense, or when the model makes
/// an id that the tokenizer does not know (it belongs to another model).
Result<GenerationResult> generate(Decoder& decoder, const GenerationRequest& request);

} // namespace engine
