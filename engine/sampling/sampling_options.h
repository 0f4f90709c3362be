// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/sampling/grammar/grammar.h"

#include <cstdint>
#include <vector>

namespace engine {

/// A user's addition to the logit of one token.
struct LogitBias {
    TokenId token = kNoToken;
    double value = 0.0; ///< -100 practically forbids the token, 100 practically forces it

    bool operator==(const LogitBias&) const = default;
};

/// How tokens are chosen: the distribution of the next token, given the logits of the full model
/// and the tokens before it. The defaults always choose the most probable token. The options are
/// applied in this order: the penalties and the bias change logits (Penalties), the grammar forbids
/// tokens (TokenGrammar), the temperature divides logits, then top-k, top-p, min-p and typical-p
/// remove tokens (keepTokens). A greedy choice takes the highest of the changed logits; the last
/// four do not affect it.
struct SamplingOptions {
    double temperature = 0.0; ///< 0 = greedy; otherwise logits are divided by it
    int topK = 0;             ///< keep the K best (and all ties with the K-th); 0 = off
    double topP = 1.0;        ///< keep the smallest set of best tokens that reaches P; 1 = off
    double minP = 0.0;        ///< keep tokens with at least this fraction of the best one's
                              ///< probability; 0 = off
    double typicalP = 1.0;    ///< keep the smallest set of typical tokens that reaches P; 1 = off
    std::uint64_t seed = 0;   ///< seed of all draws
    double repetitionPenalty = 1.0; ///< for tokens that occurred: logits above 0 are divided by it,
                                    ///< others multiplied
    int repetitionWindow = 0;       ///< number of newest tokens, of prompt and answer, that it
                                    ///< covers; 0 = all
    double presencePenalty = 0.0;   ///< subtracted from the logit of every token of the answer
    double frequencyPenalty = 0.0;  ///< the same, for each occurrence of the token
    std::vector<LogitBias> logitBias = {}; ///< each token once
    Grammar grammar = {};                  ///< the form that an answer must have

    bool operator==(const SamplingOptions&) const = default;

    /// Errors: InvalidInput, naming the option and its range, or the grammar's fault.
    Result<void> validate() const;

    /// The same, and checks that the tokens of the bias are in a vocabulary of this size.
    Result<void> validateFor(int vocabSize) const;
};

} // namespace engine
