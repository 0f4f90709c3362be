// SPDX-License-Identifier: Apache-2.0
// Included by row_bodies.inl: the summary of a tile of logits, on the lanes that the including file
// defines.
#pragma once

#include "engine/kernels/rows/lane_math.inl"

namespace engine {

namespace {

/// The best kSummaryTop logits so far, best first.
inline void keepIfBetter(float logit, TokenId id, float* logits, TokenId* ids) {
    if (!(logit > logits[kSummaryTop - 1]))
        return;
    int place = kSummaryTop - 1;
    for (; place > 0 && logit > logits[place - 1]; --place) {
        logits[place] = logits[place - 1];
        ids[place] = ids[place - 1];
    }
    logits[place] = logit;
    ids[place] = id;
}

inline void forget(float* logits, TokenId* ids) {
    for (int i = 0; i < kSummaryTop; ++i) {
        logits[i] = -kInfinity;
        ids[i] = kNoToken;
    }
}

/// A number that kSummaryTop logits of the tile reach: the highest one that so many lanes reach.
inline float reachedBound(Lanes highest) {
    float lanes[kLanes];
    store(lanes, highest);
    float bound = -kInfinity;
    for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t reached = lanesAtLeast(highest, broadcast(lanes[lane]));
        const bool isBetter = __builtin_popcount(reached) >= kSummaryTop && lanes[lane] > bound;
        bound = isBetter ? lanes[lane] : bound;
    }
    return bound;
}

void summarise(const float* logits, int count, TokenId firstId, HeadPartial* partial) {
    Lanes highest = broadcast(-kInfinity);
    for (int i = 0; i < count; i += kLanes)
        highest = higher(loadUpTo(logits + i, count - i, -kInfinity), highest);
    partial->highest = highestLane(highest);
    const Lanes bound = broadcast(reachedBound(highest));
    forget(partial->logits, partial->ids);
    Lanes total = broadcast(0.0F);
    Lanes probe = broadcast(0.0F); // 0 times what is not finite is NaN
    for (int i = 0; i < count; i += kLanes) {
        const int left = count - i;
        const Lanes x = loadUpTo(logits + i, left, -kInfinity);
        total = sum(total, exponential(difference(x, broadcast(partial->highest))));
        probe = productPlus(loadUpTo(logits + i, left), broadcast(0.0F), probe);
        std::uint32_t candidates = lanesAtLeast(x, bound);
        if (left < kLanes)
            candidates &= (1U << left) - 1U;
        for (; candidates != 0; candidates &= candidates - 1) {
            const int at = i + __builtin_ctz(candidates);
            keepIfBetter(logits[at], firstId + at, partial->logits, partial->ids);
        }
    }
    partial->sum = sumOfLanes(total);
    partial->isFinite = !hasNan(probe);
}

} // namespace

} // namespace engine
