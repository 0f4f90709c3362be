// SPDX-License-Identifier: Apache-2.0
// Included by row_bodies.inl: attention of one row, on the lanes that the including file defines.
//
// Keys are numbered by their place in the row's own sequence, in which those that a window hides
// of its first section keep theirs. A score is one dot product, whatever its neighbours; a block of
// kAttendBlockKeys is weighed as a whole; values are added in the order of their numbers. So how
// many heads or keys are worked on together leaves no trace.
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
    bool fetches;                // values: no sweep before has read them
    bool isLast;                 // of the call
    float highest[kAttendHeads]; // score so far
    float total[kAttendHeads];   // of the weights so far
};

/// Sums over the first `width` numbers, a multiple of kLanes, one register of the lanes after the
/// other. Shapes: queries [kHeads, dim], rows [kScoreKeys].
template <KvElement kElement, int kHeads>
inline void scoreWhole(const float* queries,
                       const void* const* rows,
                       int dim,
                       int width,
                       Lanes (&sums)[kHeads][kScoreKeys]) {
#pragma GCC unroll 2
    for (int piece = 0; piece < kPieces; ++piece) {
        Piece part[kHeads][kScoreKeys];
#pragma GCC unroll 8
        for (int head = 0; head < kHeads; ++head)
#pragma GCC unroll 8
            for (int key = 0; key < kScoreKeys; ++key)
                part[head][key] = zeroPiece();
        for (int at = piece * kPieceLanes; at < width; at += kLanes) {
            Piece query[kHeads];
#pragma GCC unroll 8
            for (int head = 0; head < kHeads; ++head)
                query[head] = loadPiece(queries + head * dim + at);
#pragma GCC unroll 8
            for (int key = 0; key < kScoreKeys; ++key) {
                const Piece numbers = loadRowPiece<kElement>(rows[key], dim, at);
#pragma GCC unroll 8
                for (int head = 0; head < kHeads; ++head)
                    part[head][key] = productPlus(query[head], numbers, part[head][key]);
            }
        }
#pragma GCC unroll 8
        for (int head = 0; head < kHeads; ++head)
#pragma GCC unroll 8
            for (int key = 0; key < kScoreKeys; ++key)
                pieceOf(sums[head][key], piece) = part[head][key];
    }
}

/// Scores of some heads and four keys. Shapes: queries [kHeads, dim], rows [kScoreKeys], scores
/// [kHeads, kAttendBlockKeys].
template <KvElement kElement, int kHeads>
inline void scoreTile(const float* queries, const void* const* rows, int dim, float* scores) {
    Lanes sums[kHeads][kScoreKeys];
    const int whole = dim / kLanes * kLanes;
    scoreWhole<kElement, kHeads>(queries, rows, dim, whole, sums);
#pragma GCC unroll 8
    for (int head = 0; head < kHeads; ++head) {
        if constexpr (kElement == KvElement::F32)
            for (int key = 0; key < kScoreKeys && whole < dim; ++key)
                sums[head][key] =
                    productPlus(loadUpTo(queries + head * dim + whole, dim - whole),
                                loadUpTo(static_cast<const float*>(rows[key]) + whole, dim - whole),
                                sums[head][key]);
        sumOfFourLanes(sums[head], scores + head * kAttendBlockKeys);
    }
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

/// out += weights times values, for kWidth registers of numbers from `at` on. Shapes: weights
/// [kHeads, kAttendBlockKeys], out [kHeads, dim].
template <KvElement kElement, int kHeads, int kWidth>
inline void addTile(const Strip& strip, const float* weights, int at, float* out) {
    Piece sums[kHeads][kWidth];
#pragma GCC unroll 8
    for (int head = 0; head < kHeads; ++head)
#pragma GCC unroll 8
        for (int i = 0; i < kWidth; ++i)
            sums[head][i] = loadPiece(out + head * strip.dim + at + i * kPieceLanes);
    for (int key = 0; key < strip.count; ++key) {
        Piece weight[kHeads];
#pragma GCC unroll 8
        for (int head = 0; head < kHeads; ++head)
            weight[head] = broadcastPiece(weights[head * kAttendBlockKeys + key]);
#pragma GCC unroll 8
        for (int i = 0; i < kWidth; ++i) {
            const Piece values =
                loadRowPiece<kElement>(strip.rows[key], strip.dim, at + i * kPieceLanes);
#pragma GCC unroll 8
            for (int head = 0; head < kHeads; ++head)
                sums[head][i] = productPlus(weight[head], values, sums[head][i]);
        }
    }
#pragma GCC unroll 8
    for (int head = 0; head < kHeads; ++head)
#pragma GCC unroll 8
        for (int i = 0; i < kWidth; ++i)
            storePiece(out + head * strip.dim + at + i * kPieceLanes, sums[head][i]);
}

/// The same for the numbers of a head behind the last whole lanes.
inline void addRest(const Strip& strip, const float* weights, int at, float* out) {
    const int left = strip.dim - at;
    Lanes sums = loadUpTo(out + at, left);
    for (int key = 0; key < strip.count; ++key)
        sums = productPlus(broadcast(weights[key]),
                           loadUpTo(static_cast<const float*>(strip.rows[key]) + at, left),
                           sums);
    storeUpTo(out + at, left, sums);
}

/// out [heads, dim] += weights [heads, kAttendBlockKeys], from the strip's first key, times values.
template <KvElement kElement, int kHeads>
inline void addStrip(const Strip& strip, const float* weights, int heads, float* out) {
    for (; heads >= kHeads; heads -= kHeads) {
        int at = 0;
        for (; at + kValueWidth * kPieceLanes <= strip.dim; at += kValueWidth * kPieceLanes)
            addTile<kElement, kHeads, kValueWidth>(strip, weights, at, out);
        for (; at + kLanes <= strip.dim; at += kLanes)
            addTile<kElement, kHeads, kPieces>(strip, weights, at, out);
        if constexpr (kElement == KvElement::F32)
            for (int head = 0; head < kHeads && at < strip.dim; ++head)
                addRest(strip, weights + head * kAttendBlockKeys, at, out + head * strip.dim);
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
/// up before to the same measure. Places without a key weigh nothing.
inline void weighBlock(Sweep& sweep, int head, const Block& block) {
    const int count = block.empty + block.count;
    float* scores = sweep.scores + head * kAttendBlockKeys;
    if (sweep.arguments.softCap > 0.0F)
        for (int i = 0; i < count; i += kLanes)
            storeUpTo(scores + i,
                      count - i,
                      capped(loadUpTo(scores + i, count - i), sweep.arguments.softCap));
    for (int i = 0; i < block.empty; ++i)
        scores[i] = -kInfinity;
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

constexpr std::int64_t kLineBytes = 64;

/// Asks for the rows of a strip of a block, long before they are worked on. A call that is not
/// inlined would be dropped by GCC, for which a prefetch has no effect.
[[gnu::always_inline]] inline void
fetchStrip(const AttendArguments& arguments, const void* plane, const Block& block, int first) {
    const std::int64_t bytes = kvRowBytes(arguments.element, arguments.headDim);
    const int end = first + kAttendStripKeys < block.count ? first + kAttendStripKeys : block.count;
    for (int i = first; i < end; ++i) {
        const char* row = static_cast<const char*>(plane) + block.slots[i] * bytes;
        for (std::int64_t at = 0; at < bytes; at += kLineBytes)
            __builtin_prefetch(row + at);
    }
}

/// Asks for the part of what comes after this call that belongs to a strip of its last block.
[[gnu::always_inline]] inline void
fetchAfter(const AttendArguments& arguments, int first, int count) {
    const auto lines = static_cast<std::int64_t>(arguments.next.size()) / kLineBytes;
    const int end = first + kAttendStripKeys < count ? first + kAttendStripKeys : count;
    for (std::int64_t line = lines * first / count; line < lines * end / count; ++line)
        __builtin_prefetch(arguments.next.data() + line * kLineBytes);
}

/// Values come from memory while scores are computed; the next block's keys, or what comes behind
/// the last block, while values are added.
template <KvElement kElement>
inline void attendBlockAs(Sweep& sweep, const Block& block, const Block& next) {
    const AttendArguments& arguments = sweep.arguments;
    const int count = block.count;
    float* scores = sweep.scores + block.empty;
    for (int first = 0; first < count; first += kAttendStripKeys) {
        if (sweep.fetches)
            fetchStrip(arguments, arguments.values, block, first);
        const Strip keys =
            makeStrip<kElement>(arguments, arguments.keys, block.slots + first, count - first);
        scoreStrip<kElement, kScoreHeads>(keys, sweep.queries, sweep.heads, scores + first);
    }
    for (int head = 0; head < sweep.heads; ++head)
        weighBlock(sweep, head, block);
    for (int first = 0; first < count; first += kAttendStripKeys) {
        if (next.count > 0)
            fetchStrip(arguments, arguments.keys, next, first);
        else if (sweep.isLast)
            fetchAfter(arguments, first, count);
        const Strip values =
            makeStrip<kElement>(arguments, arguments.values, block.slots + first, count - first);
        addStrip<kElement, kValueHeads>(values, scores + first, sweep.heads, sweep.out);
    }
}

/// Narrow numbers of whole vectors are widened on the way, where heads share that work.
inline void attendBlock(Sweep& sweep, const Block& block, const Block& next) {
    const AttendArguments& arguments = sweep.arguments;
    const bool isDirect = arguments.headDim % kLanes == 0;
    if (isDirect && arguments.element == KvElement::F16)
        attendBlockAs<KvElement::F16>(sweep, block, next);
    else if (isDirect && arguments.element == KvElement::BF16)
        attendBlockAs<KvElement::BF16>(sweep, block, next);
    else if (isDirect && arguments.element == KvElement::Int8)
        attendBlockAs<KvElement::Int8>(sweep, block, next);
    else
        attendBlockAs<KvElement::F32>(sweep, block, next);
}

/// All blocks of the row or of its section.
inline void attendBlocks(Sweep& sweep) {
    const AttendArguments& arguments = sweep.arguments;
    KeyCursor cursor = firstKey(arguments);
    Block blocks[2];
    int now = 0;
    takeBlock(cursor, blocks[now]);
    // A section's keys were asked for by the call before it.
    for (int first = 0; first < blocks[now].count && arguments.section < 0;
         first += kAttendStripKeys)
        fetchStrip(arguments, arguments.keys, blocks[now], first);
    while (blocks[now].count > 0) {
        Block& next = blocks[1 - now];
        takeBlock(cursor, next);
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
                    head == 0 || arguments.section < 0,
                    left <= kAttendHeads,
                    {},
                    {}};
        attendHeads(sweep, head);
    }
}

} // namespace

} // namespace engine
