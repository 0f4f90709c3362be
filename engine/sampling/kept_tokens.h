// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"
#include "engine/sampling/sampler.h"

#include <span>
#include <vector>

namespace engine {

/// A token that can be drawn.
struct KeptToken {
    TokenId id;
    double exponent; ///< (logit - highest logit) / temperature
    double weight;   ///< e^exponent, above 0
};

/// The tokens of a row that temperature, top-k, top-p, min-p and typical-p keep. A plain value.
struct KeptTokens {
    std::vector<KeptToken> tokens; ///< in no particular order
    double weight = 0.0;           ///< of all of them; a token's probability is its share
};

/// Whether every token with a probability can be drawn.
bool keepsAllTokens(const SamplingOptions& options);

/// Applies top-k, then top-p to the rest, then min-p, then typical-p (arXiv 2202.00666). The result
/// depends only on the row and the options: shortcuts never change which tokens are kept. Shapes:
/// logits [vocab], finite or -infinity, one at least finite; the temperature above
/// 0. Thread: any.
KeptTokens keepTokens(std::span<const double> logits, const SamplingOptions& options);

} // namespace engine
