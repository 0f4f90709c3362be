// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"

namespace engine {

/// Highest logits that are kept of a row.
inline constexpr int kSummaryTop = 10;

/// What is kept of one tile of a row's logits.
struct HeadPartial {
    float logits[kSummaryTop]; // the highest, best first; of equal ones the lower id first
    TokenId ids[kSummaryTop];  // kNoToken, with logit -infinity, where the tile has fewer
    float highest;
    float sum;     // of exp(logit - highest); NaN if a logit is
    bool isFinite; // all logits of the tile are
};

/// What is kept of a row's logits over the whole vocabulary.
struct HeadTotal {
    float logits[kSummaryTop]; // as in HeadPartial
    TokenId ids[kSummaryTop];
    double logSumExp; // log of the sum of exp(logit)
    bool isFinite;
};

/// Joins the tiles of one row, which are given in ascending order of their ids. Which tiles there
/// are decides the last bits of logSumExp; who made them, and when, does not. Thread: any.
HeadTotal combinePartials(const HeadPartial* partials, int count);

} // namespace engine
