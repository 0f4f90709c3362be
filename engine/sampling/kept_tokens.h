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

/// What temperature, top-k and top-p leave of a row. A plain value.
struct KeptTokens {
    std::vector<KeptToken> tokens; ///< in no order that means anything
    double weight = 0.0;           ///< of all of them; the law is each one's own part in it
};

/// A function of the row and the options alone: ways to be quick about it never change what is
/// kept. Shapes: logits [vocab], not empty, finite; the temperature above 0. Thread: any.
KeptTokens keepTokens(std::span<const double> logits, const SamplingOptions& options);

} // namespace engine
