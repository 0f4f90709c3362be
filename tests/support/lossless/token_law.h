// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/sampler.h"
#include "tests/support/lossless/decision_tree.h"
#include "tests/support/transformers/tabular_transformer.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace support {

using Tokens = std::vector<engine::TokenId>;

/// Probabilities of token sequences of one length.
using TokenLaw = std::map<Tokens, double>;

/// One round of a decoder after these tokens, with all its random decisions made by `Decisions`;
/// returns its tokens, at least one.
using Round = std::function<Tokens(const Tokens& prompt, Decisions& decisions)>;

/// The distribution of the next `count` tokens of vanilla decoding, by its definition.
TokenLaw vanillaLaw(const BigramTable& table,
                    const engine::SamplingOptions& sampling,
                    const Tokens& prompt,
                    int count);

/// The distribution of the next `count` tokens that rounds emit, by running every outcome of each.
/// Rounds may depend only on the tokens so far.
TokenLaw enumeratedLaw(const Round& round, const Tokens& prompt, int count);

/// Half the sum of all differences.
double totalVariation(const TokenLaw& a, const TokenLaw& b);

/// The distance of samples from a distribution.
struct LawDistance {
    long samples = 0;
    double chiSquared = 0.0;
    double degrees = 1.0; ///< of freedom
    double limit = 0.0;   ///< exceeded by a correct sampler about once in a million
    double variation = 0.0;

    bool isFar() const { return chiSquared > limit; }

    /// p: the probability that a correct sampler is at least this far away.
    double likelihood() const;

    /// All of these figures, as readable text.
    std::string text() const;
};

/// Cells with fewer than 5 expected samples are merged.
LawDistance distanceFromLaw(const TokenLaw& law, const std::map<Tokens, long>& samples);

/// Of all tokens together and of each alone the one that is farthest from its limit. Together they
/// are compared where the law has at most `mostTogether` outcomes.
LawDistance farthestFromLaw(const TokenLaw& law,
                            const std::map<Tokens, long>& samples,
                            std::size_t mostTogether = 1'000'000);

/// The distribution of token `index` alone.
TokenLaw marginal(const TokenLaw& law, std::size_t index);

/// The same of samples.
std::map<Tokens, long> marginal(const std::map<Tokens, long>& samples, std::size_t index);

} // namespace support
