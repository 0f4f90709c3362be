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

/// The most probable token; of equals the lowest id, as HeadSummary has it.
/// Shapes: logits [vocab], not empty.
TokenId argmax(std::span<const double> logits);

/// A token of `p`: the argmax over its tokens of log p + Gumbel(seed, outputPosition, id), whose
/// law is exactly p. Tokens without probability are never drawn. Shapes: p not empty.
TokenId drawByNoise(const Distribution& p, std::uint64_t seed, Position outputPosition);

/// Turns logits into a distribution and a token, repeatably: a draw depends on nothing but
/// (logits, seed, output position), so any verified draft meets vanilla's own tokens.
/// Thread: any; no state besides the options.
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
    /// distribution. Far cheaper than making the distribution.
    TokenId choose(std::span<const double> logits, Position outputPosition) const;

    /// At most `count` different tokens, as drawn one after the other without replacement; the
    /// first is choose()'s. Not when greedy.
    std::vector<TokenId>
    chooseSeveral(std::span<const double> logits, int count, Position outputPosition) const;

private:
    SamplingOptions m_options;
};

} // namespace engine
