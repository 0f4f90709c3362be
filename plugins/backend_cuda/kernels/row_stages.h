// SPDX-License-Identifier: Apache-2.0
// What happens to rows between the matrices: the stream's beginning, norms, rotary turns, and what
// is added behind a norm.
#pragma once

#include "plugins/backend_cuda/kernels/head_stage.h"
#include "plugins/backend_cuda/kernels/number_math.h"
#include "plugins/backend_cuda/kernels/pass_arguments.h"
#include "plugins/backend_cuda/kernels/stored_weights.h"

namespace backend_cuda {

DEVICE float roundToForm(float value, Form form) {
    if (form == Form::Bf16)
        return bf16ToFloat(packBf16(value, 0.0F) & 0xffffU);
    return form == Form::F16 ? halfToFloat(packHalf(value, 0.0F) & 0xffffU) : value;
}

DEVICE void storeNumber(char* to, long long index, float value, Form form) {
    if (form == Form::F32)
        reinterpret_cast<float*>(to)[index] = value;
    else
        reinterpret_cast<std::uint16_t*>(to)[index] = static_cast<std::uint16_t>(
            form == Form::Bf16 ? packBf16(value, 0.0F) : packHalf(value, 0.0F));
}

DEVICE int bytesOf(Form form) { return form == Form::F32 ? 4 : 2; }

/// Notes that a number of a tensor is not finite; the first place of the pass stays.
DEVICE void noteNotFinite(const PassArguments& pass, int operation, int tensor, int row) {
    lowerTo(pass.flag,
            static_cast<unsigned>((operation * kPlaceTensors + tensor) * kPlaceRows + row));
}

/// Sums over the strip's 128 columns of the two rows at hand, each thread one column of one row: by
/// the tree of a warp, then its four warps in order. Column 0 of each row gets the sum.
DEVICE float stripSum(float value, float* scratch) {
    const float sum = warpSum(value);
    syncBlock();
    if (laneIndex() == 0)
        scratch[warpIndex()] = sum;
    syncBlock();
    const float* own = scratch + warpIndex() / 4 * 4;
    return (own[0] + own[1]) + (own[2] + own[3]);
}

/// Sum of a row's squares over its strips in order.
DEVICE float rowSquares(const PassArguments& pass, const float* squares, int row) {
    float sum = 0.0F;
    for (int strip = 0; strip < pass.hiddenStrips; ++strip)
        sum += loadFresh(squares + row * pass.hiddenStrips + strip);
    return sum;
}

/// 1 / sqrt(mean of squares + epsilon).
DEVICE float inverseRms(const PassArguments& pass, float squares, int width) {
    return 1.0F / squareRoot(squares / static_cast<float>(width) + pass.epsilon);
}

/// Makes the copies of cache slots that were put off, in their order, each thread its own numbers.
DEVICE void moveSlots(const PassArguments& pass) {
    const long long planes = static_cast<long long>(pass.layers) * 2 * pass.kvHeads;
    const long long bytes = static_cast<long long>(pass.headWidth) * bytesOf(pass.kvForm);
    const long long words = bytes / 4;
    for (long long at = static_cast<long long>(blockIndex()) * kThreads + threadIndex();
         at < planes * words;
         at += static_cast<long long>(gridBlocks()) * kThreads) {
        auto* plane = reinterpret_cast<unsigned*>(pass.cache + at / words * pass.capacity * bytes);
        for (int i = 0; i < pass.moveCount && !hasFault(Fault::LostMoves); ++i)
            plane[pass.moves[i].to * words + at % words] =
                plane[pass.moves[i].from * words + at % words];
    }
}

/// Reads `index` pieces of 16 bytes at the matrix' weights, each thread its own, and leaves what
/// they come to in the partial sums, so that they are read indeed: for the speed of the memory.
DEVICE void runRead(const PassArguments& pass, const Operation& operation) {
    constexpr int kAtOnce = 16;
    const auto* from = static_cast<const uint4*>(operation.matrix.weights);
    const int thread = blockIndex() * kThreads + threadIndex();
    const int threads = gridBlocks() * kThreads;
    unsigned sum = 0;
    for (long long first = thread; first < operation.index; first += kAtOnce * threads)
        UNROLL
    for (int i = 0; i < kAtOnce; ++i)
        if (const long long at = first + static_cast<long long>(i) * threads;
            at < operation.index) {
            const uint4 piece = from[at];
            sum += piece.x + piece.y + piece.z + piece.w;
        }
    reinterpret_cast<unsigned*>(pass.partials)[thread] = sum;
}

/// The stream that enters the first layer, and its squares.
DEVICE void runBegin(const PassArguments& pass, const Operation& operation, float* scratch) {
    moveSlots(pass);
    const UnitRange share = shareOf(pass.hiddenStrips, operation.offset);
    const int stride = pass.hiddenStrips * kStrip;
    for (int strip = share.next; strip < share.end; ++strip)
        for (int first = 0; first < pass.rows; first += 2) {
            const int row = first + threadIndex() / kStrip;
            const int column = strip * kStrip + threadIndex() % kStrip;
            float value = 0.0F;
            if (row < pass.rows && column < pass.hidden)
                value =
                    pass.given != nullptr
                        ? pass.given[static_cast<long long>(row) * pass.hidden + column]
                        : weightAt(pass.embedding, pass.tokens[row], column) * pass.embeddingScale;
            const float squares = stripSum(value * value, scratch);
            if (row < pass.rows) {
                pass.stream[static_cast<long long>(row) * stride + column] = value;
                if (threadIndex() % kStrip == 0)
                    pass.squares[row * pass.hiddenStrips + strip] = squares;
            }
        }
}

/// Adds to one column of the stream; keeps the squares, and what influence is made of.
DEVICE void addToStream(const PassArguments& pass,
                        const Operation& operation,
                        int place,
                        int strip,
                        int row,
                        float change,
                        float* scratch) {
    const bool isRow = row < pass.rows;
    const int column = threadIndex() % kStrip;
    const int stride = pass.hiddenStrips * kStrip;
    float* at = pass.stream + static_cast<long long>(row) * stride + strip * kStrip + column;
    const float before = isRow ? loadFresh(at) : 0.0F;
    const float value = isRow ? before + change : 0.0F;
    if (isRow) {
        *at = value;
        if (!isFinite(value))
            noteNotFinite(pass, place, 0, row);
    }
    const float squares = stripSum(value * value, scratch);
    if (isRow && column == 0)
        pass.squares[row * pass.hiddenStrips + strip] = squares;
    if (pass.influence == nullptr)
        return;
    const float was = stripSum(before * before, scratch);
    const float added = stripSum(isRow ? change * change : 0.0F, scratch);
    if (isRow && column == 0) {
        float* to = pass.influence +
                    ((operation.sublayer * pass.rows + row) * pass.hiddenStrips + strip) * 2;
        to[0] = added;
        to[1] = was;
    }
}

/// The experts with the highest logits, of equal ones the first, each weighed by its softmax; -1
/// stands for those that were not chosen. A warp has one row.
DEVICE void runChoose(const PassArguments& pass, int place) {
    constexpr int kMost = kMostExperts / 32;
    for (int row = blockIndex() * kWarps + warpIndex(); row < pass.rows;
         row += gridBlocks() * kWarps) {
        float* logits = pass.routed + row * kMostExperts;
        float own[kMost];
        bool isChosen[kMost] = {};
        float highest = kLowest;
        UNROLL
        for (int i = 0; i < kMost; ++i) {
            const int expert = i * 32 + laneIndex();
            own[i] = expert < pass.experts ? loadFresh(logits + expert) : kLowest;
            if (!isFinite(own[i]))
                noteNotFinite(pass, place, 0, row);
            highest = own[i] > highest ? own[i] : highest;
        }
        for (int mask = 16; mask > 0; mask >>= 1) {
            const float other = shuffleXor(highest, mask);
            highest = other > highest ? other : highest;
        }
        for (int rank = 0; rank < pass.usedExperts; ++rank) {
            float logit = kLowest;
            int best = kNoId;
            UNROLL
            for (int i = 0; i < kMost; ++i) {
                const int expert = i * 32 + laneIndex();
                if (expert < pass.experts && !isChosen[i] &&
                    isBetter(own[i], expert, logit, best)) {
                    logit = own[i];
                    best = expert;
                }
            }
            bestOfWarp(logit, best);
            UNROLL
            for (int i = 0; i < kMost; ++i)
                isChosen[i] = isChosen[i] || best == i * 32 + laneIndex();
        }
        float total = 0.0F;
        UNROLL
        for (int i = 0; i < kMost; ++i) {
            const bool isThere = i * 32 + laneIndex() < pass.experts;
            own[i] = isThere ? exponential(own[i] - highest) : 0.0F;
            total += pass.renormalises == 0 || isChosen[i] ? own[i] : 0.0F;
        }
        total = warpSum(total);
        UNROLL
        for (int i = 0; i < kMost; ++i)
            logits[i * 32 + laneIndex()] = isChosen[i] ? own[i] / total : -1.0F;
    }
}

/// stream += norm(added) * scale; without a norm as it is.
DEVICE void
runAddNormed(const PassArguments& pass, const Operation& operation, int place, float* scratch) {
    const UnitRange share = shareOf(pass.hiddenStrips, operation.offset);
    const int stride = pass.hiddenStrips * kStrip;
    for (int strip = share.next; strip < share.end; ++strip)
        for (int first = 0; first < pass.rows; first += 2) {
            const int row = first + threadIndex() / kStrip;
            const int column = strip * kStrip + threadIndex() % kStrip;
            float change = 0.0F;
            if (row < pass.rows) {
                change = loadFresh(pass.added + static_cast<long long>(row) * stride + column);
                if (operation.norm != nullptr)
                    change *=
                        inverseRms(pass, rowSquares(pass, pass.addedSquares, row), pass.hidden) *
                        operation.norm[column];
                change *= operation.scale;
            }
            addToStream(pass, operation, place, strip, row, change, scratch);
        }
}

/// The stream behind a layer, for the host.
DEVICE void runHandOut(const PassArguments& pass, const Operation& operation) {
    const int stride = pass.hiddenStrips * kStrip;
    const long long count = static_cast<long long>(pass.rows) * pass.hidden;
    float* to = pass.handOuts + operation.index * count;
    for (long long at = static_cast<long long>(blockIndex()) * kThreads + threadIndex(); at < count;
         at += static_cast<long long>(gridBlocks()) * kThreads)
        to[at] = loadFresh(pass.stream + at / pass.hidden * stride + at % pass.hidden);
}

/// Queries and keys behind their norms, turned by their positions; values as they are. A warp has
/// one head of one row.
DEVICE void runTurn(const PassArguments& pass, const Operation& operation, int place) {
    const int heads = pass.heads + 2 * pass.kvHeads;
    const int width = pass.headWidth;
    const int stride = projectedStride(pass);
    const int half = pass.half[operation.rope];
    for (int unit = blockIndex() * kWarps + warpIndex(); unit < pass.rows * heads;
         unit += gridBlocks() * kWarps) {
        const int row = unit / heads;
        const int head = unit % heads;
        const bool isQuery = head < pass.heads;
        const bool isValue = head >= pass.heads + pass.kvHeads;
        const float* from = pass.projected + static_cast<long long>(row) * stride;
        const float* norm = isValue ? nullptr : isQuery ? operation.norm : operation.keyNorm;
        float scale = 1.0F;
        if (norm != nullptr) {
            // Over this head, or over all that are normed together.
            const int first = pass.fullWidthNorm == 0 ? head : isQuery ? 0 : pass.heads;
            const int count = pass.fullWidthNorm == 0 ? 1 : isQuery ? pass.heads : pass.kvHeads;
            float squares = 0.0F;
            for (int at = laneIndex(); at < count * width; at += 32) { // filling is zero
                const float value = loadFresh(from + first * width + at);
                squares += value * value;
            }
            scale = inverseRms(pass, warpSum(squares), count * pass.headDim);
            norm += pass.fullWidthNorm == 0 ? 0 : (head - first) * width;
        }
        from += head * width;
        const auto normed = [&](int at) {
            const float value = loadFresh(from + at);
            return norm == nullptr ? value : value * scale * norm[at];
        };
        const float* cosines = pass.cosines[operation.rope] + static_cast<long long>(row) * half;
        const float* sines = pass.sines[operation.rope] + static_cast<long long>(row) * half;
        const int slot = pass.firstSlot + row;
        const long long plane =
            isQuery ? 0
                    : ((static_cast<long long>(operation.layer) * 2 + (isValue ? 1 : 0)) *
                           pass.kvHeads +
                       (head - pass.heads) % pass.kvHeads);
        for (int at = laneIndex(); at < width; at += 32) {
            float value = normed(at);
            if (!isFinite(loadFresh(from + at)))
                noteNotFinite(pass, place, isQuery ? 0 : isValue ? 2 : 1, row);
            if (!isValue && at < half)
                value = value * cosines[at] - normed(at + half) * sines[at];
            else if (!isValue && at < 2 * half)
                value = value * cosines[at - half] + normed(at - half) * sines[at - half];
            if (isQuery) {
                storeNumber(pass.queries,
                            (static_cast<long long>(row) * pass.heads + head) * width + at,
                            value * pass.scoreScale,
                            pass.kvForm);
                continue;
            }
            if (!isFinite(roundToForm(value, pass.kvForm)))
                noteNotFinite(pass, place, isValue ? 2 : 1, row);
            storeNumber(
                pass.cache, (plane * pass.capacity + slot) * width + at, value, pass.kvForm);
        }
    }
}

} // namespace backend_cuda
