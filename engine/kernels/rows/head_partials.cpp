// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/rows/head_partials.h"

#include <cmath>
#include <limits>

namespace engine {

namespace {

/// Tiles come in ascending order of ids, so a later equal logit ranks lower.
void insert(HeadTotal& summary, float logit, TokenId id) {
    int place = kSummaryTop - 1;
    for (; place > 0 && logit > summary.logits[place - 1]; --place) {
        summary.logits[place] = summary.logits[place - 1];
        summary.ids[place] = summary.ids[place - 1];
    }
    summary.logits[place] = logit;
    summary.ids[place] = id;
}

} // namespace

HeadTotal combinePartials(const HeadPartial* partials, int count) {
    HeadTotal summary{};
    for (int i = 0; i < kSummaryTop; ++i) {
        summary.logits[i] = -std::numeric_limits<float>::infinity();
        summary.ids[i] = kNoToken;
    }
    summary.isFinite = true;
    float highest = -std::numeric_limits<float>::infinity();
    for (int tile = 0; tile < count; ++tile) {
        const HeadPartial& partial = partials[tile];
        for (int i = 0; i < kSummaryTop; ++i) {
            if (!(partial.logits[i] > summary.logits[kSummaryTop - 1]))
                break;
            insert(summary, partial.logits[i], partial.ids[i]);
        }
        summary.isFinite = summary.isFinite && partial.isFinite;
        highest = partial.highest > highest ? partial.highest : highest;
    }
    double total = 0.0;
    for (int tile = 0; tile < count; ++tile)
        total += static_cast<double>(partials[tile].sum) *
                 std::exp(static_cast<double>(partials[tile].highest) - highest);
    summary.logSumExp = highest + std::log(total);
    return summary;
}

} // namespace engine
