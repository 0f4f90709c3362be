// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace engine {

/// Finds the tokens with the highest exponent + Gumbel(seed, outputPosition, id): a draw without
/// replacement from the distribution with probabilities proportional to e^exponent; the first token
/// is a draw from the distribution itself. The two logarithms of the noise are computed for only a
/// few tokens: the leading bits of the random number show that the others cannot win. Thread: any.
class NoiseRanking {
public:
    /// Finds the `count` best tokens, at least 1.
    NoiseRanking(std::uint64_t seed, Position outputPosition, int count);

    /// Tokens may come in any order, each once; those with e^exponent = 0 are never drawn.
    void offer(TokenId id, double exponent);

    /// A whole row of tokens: exponents (logits - highest) / temperature. Shapes: logits [vocab].
    void offerRow(std::span<const double> logits, double highest, double temperature);

    /// Best first, among equals the lower id first; fewer than requested if no more can be drawn.
    std::vector<TokenId> best() const;

private:
    struct Ranked {
        double score;
        TokenId id;
    };

    bool canEnter(TokenId id, double exponent) const;
    void insert(Ranked ranked);

    std::uint64_t m_key;
    std::size_t m_count;
    std::vector<Ranked> m_best;                                // best first
    double m_bound = -std::numeric_limits<double>::infinity(); // scores below cannot enter
    double m_reach;                                            // exponents below cannot enter
};

} // namespace engine
