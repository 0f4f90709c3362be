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

/// What temperature, top-k, top-p, min-p and typical-p leave of a row. A plain value.
struct KeptTokens {
    std::vector<KeptToken> tokens; ///< in no order that means anything
    double weight = 0.0;           ///< of all of them; the law is each one's own part in it
};

/// Whether every token with a probability can be drawn.
bool keepsAllTokens(const SamplingOptions& options);

/// Top-k, then top-p of what that left, then min-p, then typical-p (arXiv 2202.00666) of what those
/// left. A function of the row and the options alone: ways to be quick about it never change what
/// is kept. Shapes: logits [vocab], finite or -infinity, one at least finite; the temperature above
/// 0. Thread: any.
KeptTokens keepTokens(std::span<const double> logits, const SamplingOptions& options);

} // namespace engine
