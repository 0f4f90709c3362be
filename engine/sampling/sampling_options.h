// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/sampling/grammar/grammar.h"

#include <cstdint>
#include <vector>

namespace engine {

/// What the user adds to the logit of one token.
struct LogitBias {
    TokenId token = kNoToken;
    double value = 0.0; ///< -100 all but forbids the token, 100 all but enforces it

    bool operator==(const LogitBias&) const = default;
};

/// How tokens are chosen: the law of the next token, given the logits of the full model and the
/// tokens before it. The defaults choose the most probable token every time. They act in this
/// order: the penalties and the bias change logits (Penalties), the grammar forbids tokens
/// (TokenGrammar), the temperature divides logits, then top-k, top-p, min-p and typical-p leave out
/// tokens (keepTokens). A greedy choice takes the highest of the changed logits; the last four do
/// nothing to it.
struct SamplingOptions {
    double temperature = 0.0; ///< 0 = greedy; otherwise logits are divided by it
    int topK = 0;             ///< keep the K best (all that tie with the K-th); 0 = off
    double topP = 1.0;        ///< keep the least set of best tokens that reaches P; 1 = off
    double minP = 0.0;      ///< keep tokens at least so many times as probable as the best; 0 = off
    double typicalP = 1.0;  ///< keep the least set of typical tokens that reaches P; 1 = off
    std::uint64_t seed = 0; ///< key of all draws
    double repetitionPenalty = 1.0; ///< logits of tokens that were there: / it above 0, else * it
    int repetitionWindow = 0;       ///< newest tokens, prompt and answer, that it reads; 0 = all
    double presencePenalty = 0.0;   ///< taken from the logit of every token of the answer
    double frequencyPenalty = 0.0;  ///< the same for each time that the token is there
    std::vector<LogitBias> logitBias = {}; ///< each token once
    Grammar grammar = {};                  ///< the form that an answer must have

    bool operator==(const SamplingOptions&) const = default;

    /// Errors: InvalidInput, naming the option and its range, or what is wrong with the grammar.
    Result<void> validate() const;

    /// The same, and that the tokens of the bias are in a vocabulary of this size.
    Result<void> validateFor(int vocabSize) const;
};

} // namespace engine
