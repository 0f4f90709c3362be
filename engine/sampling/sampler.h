// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"
#include "engine/sampling/sampling_options.h"

#include <cstdint>
#include <span>
#include <vector>

namespace engine {

/// The tokens that can be drawn and their probabilities, in order of id; they sum to 1.
struct Distribution {
    std::vector<TokenId> ids;
    std::vector<double> probabilities;
};

/// The most probable token; among equals the lowest id, as in HeadSummary. Shapes: logits [vocab],
/// not empty.
TokenId argmax(std::span<const double> logits);

/// A token of `p`: the argmax over its tokens of log p + Gumbel(seed, outputPosition, id), whose
/// law is exactly p. Tokens without probability are never drawn. Shapes: p not empty.
TokenId drawByNoise(const Distribution& p, std::uint64_t seed, Position outputPosition);

/// At most `count` different tokens of `p`, best first: what drawing without putting back gives.
std::vector<TokenId>
drawSeveralByNoise(const Distribution& p, int count, std::uint64_t seed, Position outputPosition);

/// Turns logits into a distribution and a token, reproducibly: a draw depends only on (logits,
/// seed, output position), so verified drafts give vanilla's own tokens. Thread: any; no state
/// besides the options.
class Sampler {
public:
    /// `options` must have passed validate().
    explicit Sampler(const SamplingOptions& options)
        : m_options(options) {}

    const SamplingOptions& options() const { return m_options; }

    bool isGreedy() const { return m_options.temperature == 0.0; }

    /// Temperature, then top-k, top-p, min-p and typical-p, in float64. Greedy: the argmax with
    /// probability 1. Shapes: logits [vocab], as Penalties left them.
    Distribution distribution(std::span<const double> logits) const;

    /// The token at `outputPosition` (0 = the first one of the answer), drawn by noise from the
    /// distribution. Far cheaper than computing the distribution.
    TokenId choose(std::span<const double> logits, Position outputPosition) const;

    /// At most `count` different tokens, drawn one after another without replacement; the first is
    /// the token of choose(). Not for greedy sampling.
    std::vector<TokenId>
    chooseSeveral(std::span<const double> logits, int count, Position outputPosition) const;

private:
    SamplingOptions m_options;
};

} // namespace engine
