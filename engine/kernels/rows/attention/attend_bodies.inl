// SPDX-License-Identifier: Apache-2.0
// Included by row_bodies.inl: attention of one row, on the lanes that the including file defines.
//
// Keys are numbered by their place in the row's own sequence. A score is one dot product, whatever
// its neighbours; a block of kAttendBlockKeys is weighed as a whole; values are added in the order
// of their numbers. So how many heads or keys are worked on together leaves no trace.
#pragma once

#include "engine/kernels/rows/attention/key_strips.inl"

namespace engine {

namespace {

/// Up to kAttendHeads query heads on their way over the keys.
struct Sweep {
    const AttendArguments& arguments;
    const float* queries; // [heads, dim]
    float* out;           // [heads, dim]: sums of weighted values
    float* scores;        // [heads, kAttendBlockKeys], then the weights
    int heads;
    float highest[kAttendHeads]; // score so far
    float total[kAttendHeads];   // of the weights so far
};

/// A vector of which all numbers exist, or only `left`.
template <bool kIsWhole> inline Lanes loadTile(const float* from, int left) {
    if constexpr (kIsWhole)
        return load(from);
    else
        return loadUpTo(from, left);
}

/// Adds one vector of the width to the scores. Shape: queries [kHeads, dim].
template <KvElement kElement, int kHeads, bool kIsWhole>
inline void scoreLanes(const float* queries,
                       const void* const* rows,
                       int dim,
                       int at,
                       Lanes (&sums)[kHeads][kScoreKeys]) {
    Lanes keys[kScoreKeys];
#pragma GCC unroll 8
    for (int key = 0; key < kScoreKeys; ++key)
        keys[key] = loadRow<kElement, kIsWhole>(rows[key], at, dim - at);
#pragma GCC unroll 8
    for (int head = 0; head < kHeads; ++head) {
        const Lanes query = loadTile<kIsWhole>(queries + head * dim + at, dim - at);
#pragma GCC unroll 8
        for (int key = 0; key < kScoreKeys; ++key)
            sums[head][key] = productPlus(query, keys[key], sums[head][key]);
    }
}

/// Scores of some heads and four keys. Shapes: queries [kHeads, dim], rows [kScoreKeys], scores
/// [kHeads, kAttendBlockKeys].
template <KvElement kElement, int kHeads>
inline void scoreTile(const float* queries, const void* const* rows, int dim, float* scores) {
    Lanes sums[kHeads][kScoreKeys];
#pragma GCC unroll 8
    for (int head = 0; head < kHeads; ++head)
#pragma GCC unroll 8
        for (int key = 0; key < kScoreKeys; ++key)
            sums[head][key] = broadcast(0.0F);
    int at = 0;
    for (; at + kLanes <= dim; at += kLanes)
        scoreLanes<kElement, kHeads, true>(queries, rows, dim, at, sums);
    if (at < dim)
        scoreLanes<kElement, kHeads, false>(queries, rows, dim, at, sums);
#pragma GCC unroll 8
    for (int head = 0; head < kHeads; ++head)
        sumOfFourLanes(sums[head], scores + head * kAttendBlockKeys);
}

/// Scores of a strip of keys; `scores` [heads, kAttendBlockKeys] begins at its first key.
template <KvElement kElement, int kHeads>
inline void scoreStrip(const Strip& strip, const float* queries, int heads, float* scores) {
    for (; heads >= kHeads; heads -= kHeads) {
        for (int key = 0; key < strip.count; key += kScoreKeys)
            scoreTile<kElement, kHeads>(queries, strip.rows + key, strip.dim, scores + key);
        queries += kHeads * strip.dim;
        scores += kHeads * kAttendBlockKeys;
    }
    if constexpr (kHeads > 1)
        scoreStrip<kElement, kHeads - 1>(strip, queries, heads, scores);
}

/// out += weights times values, for kWidth vectors of the width from `at` on. Shapes: weights
/// [kHeads, kAttendBlockKeys], out [kHeads, dim].
template <KvElement kElement, int kHeads, int kWidth, bool kIsWhole>
inline void addTile(const Strip& strip, const float* weights, int at, float* out) {
    const int left = strip.dim - at;
    Lanes sums[kHeads][kWidth];
#pragma GCC unroll 8
    for (int head = 0; head < kHeads; ++head)
#pragma GCC unroll 8
        for (int i = 0; i < kWidth; ++i)
            sums[head][i] = loadTile<kIsWhole>(out + head * strip.dim + at + i * kLanes, left);
    for (int key = 0; key < strip.count; ++key) {
        Lanes values[kWidth];
#pragma GCC unroll 8
        for (int i = 0; i < kWidth; ++i)
            values[i] = loadRow<kElement, kIsWhole>(strip.rows[key], at + i * kLanes, left);
#pragma GCC unroll 8
        for (int head = 0; head < kHeads; ++head) {
            const Lanes weight = broadcast(weights[head * kAttendBlockKeys + key]);
#pragma GCC unroll 8
            for (int i = 0; i < kWidth; ++i)
                sums[head][i] = productPlus(weight, values[i], sums[head][i]);
        }
    }
#pragma GCC unroll 8
    for (int head = 0; head < kHeads; ++head)
#pragma GCC unroll 8
        for (int i = 0; i < kWidth; ++i) {
            float* to = out + head * strip.dim + at + i * kLanes;
            if constexpr (kIsWhole)
                store(to, sums[head][i]);
            else
                storeUpTo(to, left, sums[head][i]);
        }
}

/// out [heads, dim] += weights [heads, kAttendBlockKeys], from the strip's first key, times values.
template <KvElement kElement, int kHeads>
inline void addStrip(const Strip& strip, const float* weights, int heads, float* out) {
    for (; heads >= kHeads; heads -= kHeads) {
        int at = 0;
        for (; at + kValueWidth * kLanes <= strip.dim; at += kValueWidth * kLanes)
            addTile<kElement, kHeads, kValueWidth, true>(strip, weights, at, out);
        for (; at + kLanes <= strip.dim; at += kLanes)
            addTile<kElement, kHeads, 1, true>(strip, weights, at, out);
        if (at < strip.dim)
            addTile<kElement, kHeads, 1, false>(strip, weights, at, out);
        weights += kHeads * kAttendBlockKeys;
        out += kHeads * strip.dim;
    }
    if constexpr (kHeads > 1)
        addStrip<kElement, kHeads - 1>(strip, weights, heads, out);
}

inline void scaleRow(float* row, int width, float factor) {
    for (int i = 0; i < width; i += kLanes)
        storeUpTo(row + i, width - i, product(loadUpTo(row + i, width - i), broadcast(factor)));
}

/// Turns a head's scores of a block into weights e^(score - highest so far), and what was summed
/// up before to the same measure.
inline void weighBlock(Sweep& sweep, int head, int count) {
    float* scores = sweep.scores + head * kAttendBlockKeys;
    if (sweep.arguments.softCap > 0.0F)
        for (int i = 0; i < count; i += kLanes)
            storeUpTo(scores + i,
                      count - i,
                      capped(loadUpTo(scores + i, count - i), sweep.arguments.softCap));
    for (int i = count; i % kLanes != 0; ++i)
        scores[i] = -kInfinity;
    const float before = sweep.highest[head];
    Lanes highest = broadcast(before);
    for (int i = 0; i < count; i += kLanes)
        highest = higher(load(scores + i), highest);
    const float now = highestLane(highest);
    Lanes total = broadcast(0.0F);
    for (int i = 0; i < count; i += kLanes) {
        const Lanes weights = exponential(difference(load(scores + i), broadcast(now)));
        store(scores + i, weights);
        total = sum(total, weights);
    }
    if (now != before) {
        const float factor = exponential(before - now);
        sweep.total[head] *= factor;
        scaleRow(sweep.out + head * sweep.arguments.headDim, sweep.arguments.headDim, factor);
    }
    sweep.total[head] += sumOfLanes(total);
    sweep.highest[head] = now;
}

/// The slots of a block of keys.
struct Block {
    std::int32_t slots[kAttendBlockKeys];
    int count;
};

/// Asks for the rows of a strip of a block, long before they are worked on.
inline void
fetchStrip(const AttendArguments& arguments, const void* plane, const Block& block, int first) {
    constexpr std::int64_t kLineBytes = 64;
    const std::int64_t bytes =
        std::int64_t{arguments.headDim} * (arguments.element == KvElement::F32 ? 4 : 2);
    const int end = first + kAttendStripKeys < block.count ? first + kAttendStripKeys : block.count;
    for (int i = first; i < end; ++i) {
        const char* row = static_cast<const char*>(plane) + block.slots[i] * bytes;
        for (std::int64_t at = 0; at < bytes; at += kLineBytes)
            __builtin_prefetch(row + at);
    }
}

/// Values come from memory while scores are computed, the next block's keys while values are added.
template <KvElement kElement>
inline void attendBlockAs(Sweep& sweep, const Block& block, const Block& next) {
    const AttendArguments& arguments = sweep.arguments;
    const int count = block.count;
    for (int first = 0; first < count; first += kAttendStripKeys) {
        fetchStrip(arguments, arguments.values, block, first);
        const Strip keys =
            makeStrip<kElement>(arguments, arguments.keys, block.slots + first, count - first);
        scoreStrip<kElement, kScoreHeads>(keys, sweep.queries, sweep.heads, sweep.scores + first);
    }
    for (int head = 0; head < sweep.heads; ++head)
        weighBlock(sweep, head, count);
    for (int first = 0; first < count; first += kAttendStripKeys) {
        fetchStrip(arguments, arguments.keys, next, first);
        const Strip values =
            makeStrip<kElement>(arguments, arguments.values, block.slots + first, count - first);
        addStrip<kElement, kValueHeads>(values, sweep.scores + first, sweep.heads, sweep.out);
    }
}

/// Half precision numbers of whole vectors are widened on the way, where heads share that work.
inline void attendBlock(Sweep& sweep, const Block& block, const Block& next) {
    const AttendArguments& arguments = sweep.arguments;
    const bool isDirect = kReadsNarrow && arguments.headDim % kLanes == 0;
    if (isDirect && arguments.element == KvElement::F16)
        attendBlockAs<KvElement::F16>(sweep, block, next);
    else if (isDirect && arguments.element == KvElement::BF16)
        attendBlockAs<KvElement::BF16>(sweep, block, next);
    else
        attendBlockAs<KvElement::F32>(sweep, block, next);
}

/// All blocks of the row or of its section.
inline void attendBlocks(Sweep& sweep) {
    const AttendArguments& arguments = sweep.arguments;
    KeyCursor cursor = firstKey(arguments);
    Block blocks[2];
    int now = 0;
    blocks[now].count = takeSlots(cursor, blocks[now].slots);
    for (int first = 0; first < blocks[now].count; first += kAttendStripKeys)
        fetchStrip(arguments, arguments.keys, blocks[now], first);
    while (blocks[now].count > 0) {
        Block& next = blocks[1 - now];
        next.count = takeSlots(cursor, next.slots);
        attendBlock(sweep, blocks[now], next);
        now = 1 - now;
    }
}

inline void divideRow(float* row, int width, float divisor) {
    for (int i = 0; i < width; i += kLanes)
        storeUpTo(row + i, width - i, quotient(loadUpTo(row + i, width - i), broadcast(divisor)));
}

inline void attendHeads(Sweep& sweep, int firstHead) {
    const AttendArguments& arguments = sweep.arguments;
    const int dim = arguments.headDim;
    for (int head = 0; head < sweep.heads; ++head) {
        sweep.highest[head] = -kInfinity;
        sweep.total[head] = 0.0F;
    }
    for (int i = 0; i < sweep.heads * dim; ++i)
        sweep.out[i] = 0.0F;
    attendBlocks(sweep);
    for (int head = 0; head < sweep.heads; ++head)
        if (arguments.totals != nullptr)
            arguments.totals[firstHead + head] = {sweep.highest[head], sweep.total[head]};
        else
            divideRow(sweep.out + head * dim, dim, sweep.total[head]);
}

void attend(const AttendArguments& arguments) {
    const int dim = arguments.headDim;
    const int stride = (dim + kLanes - 1) / kLanes * kLanes;
    for (int head = 0; head < arguments.groupSize; head += kAttendHeads) {
        const int left = arguments.groupSize - head;
        Sweep sweep{arguments,
                    arguments.queries + head * dim,
                    arguments.out + head * dim,
                    arguments.scratch + kAttendStripKeys * stride,
                    left < kAttendHeads ? left : kAttendHeads,
                    {},
                    {}};
        attendHeads(sweep, head);
    }
}

void joinAttention(int groupSize, int headDim, const AttendSums& later, const AttendSums& sums) {
    for (int head = 0; head < groupSize; ++head) {
        AttendTotal& total = sums.totals[head];
        const AttendTotal other = later.totals[head];
        // One of the factors is e^0.
        const bool isHigher = total.highest > other.highest;
        const float highest = isHigher ? total.highest : other.highest;
        const float lower =
            exponential(isHigher ? other.highest - highest : total.highest - highest);
        const float factor = isHigher ? 1.0F : lower;
        const float otherFactor = isHigher ? lower : 1.0F;
        float* values = sums.values + head * headDim;
        const float* others = later.values + head * headDim;
        for (int i = 0; i < headDim; i += kLanes) {
            const int left = headDim - i;
            const Lanes scaled = product(loadUpTo(values + i, left), broadcast(factor));
            storeUpTo(values + i,
                      left,
                      productPlus(loadUpTo(others + i, left), broadcast(otherFactor), scaled));
        }
        total = {highest, total.weights * factor + other.weights * otherFactor};
    }
}

void divideAttention(int groupSize, int headDim, const AttendSums& sums) {
    for (int head = 0; head < groupSize; ++head)
        divideRow(sums.values + head * headDim, headDim, sums.totals[head].weights);
}

} // namespace

} // namespace engine
