// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"

namespace engine {

/// Number of highest logits kept for a row.
inline constexpr int kSummaryTop = 10;

/// The summary of one tile of a row's logits.
struct HeadPartial {
    float logits[kSummaryTop]; // the highest, best first; of equal ones the lower id first
    TokenId ids[kSummaryTop];  // kNoToken, with logit -infinity, where the tile has fewer
    float highest;
    float sum;     // of exp(logit - highest); NaN if a logit is
    bool isFinite; // all logits of the tile are
};

/// The summary of a row's logits over the whole vocabulary.
struct HeadTotal {
    float logits[kSummaryTop]; // as in HeadPartial
    TokenId ids[kSummaryTop];
    double logSumExp; // log of the sum of exp(logit)
    bool isFinite;
};

/// Joins the tiles of one row, which are given in ascending order of their ids. The last bits of
/// logSumExp depend on the division into tiles, but not on the thread or time of their computation.
/// Thread: any.
HeadTotal combinePartials(const HeadPartial* partials, int count);

} // namespace engine
