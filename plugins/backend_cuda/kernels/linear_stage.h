// SPDX-License-Identifier: Apache-2.0
// A matrix times the rows of the pass. Weights are the A operand of a product and rows its B
// operand, so the number of rows decides only how many tiles of eight there are: each number goes
// through the same operations in the same order whatever runs beside it.
#pragma once

#include "plugins/backend_cuda/kernels/quant_stage.h"
#include "plugins/backend_cuda/kernels/row_stages.h"

namespace backend_cuda {

/// Shared memory of a block behind the ring.
struct BlockSpace {
    char* staged;   // the slab's rows, or what attention hands over
    float* scratch; // [kThreads]
    unsigned* isLast;
};

constexpr int kStagedStride = kSlab + 8; // numbers of a staged row

DEVICE int inputRows(const PassArguments& pass, const Operation& operation) {
    return operation.input == Input::HeadRows ? pass.headCount : pass.rows;
}

/// The slab's columns of all rows as the weights' form takes them: of the stream behind its norm,
/// or of what a stage before left. What lies beyond is zero.
template <int Tiles>
DEVICE void
stageRows(const PassArguments& pass, const Operation& operation, int slab, char* staged) {
    const bool isStream = operation.input == Input::Stream || operation.input == Input::HeadRows;
    const float* from = isStream                            ? pass.stream
                        : operation.input == Input::Context ? pass.context
                                                            : pass.inner;
    const int stride = isStream                            ? pass.hiddenStrips * kStrip
                       : operation.input == Input::Context ? contextStride(pass)
                                                           : pass.innerStride;
    const int rows = inputRows(pass, operation);
    for (int place = warpIndex(); place < 8 * Tiles; place += kWarps) {
        const bool isRow = place < rows;
        const int row = isRow && operation.input == Input::HeadRows ? pass.headRows[place] : place;
        float scale = 1.0F;
        if (isRow && isStream && operation.norm != nullptr)
            scale = inverseRms(pass, rowSquares(pass, pass.squares, row), pass.hidden);
        for (int at = laneIndex() * 4; at < kSlab; at += 128) {
            const int column = slab * kSlab + at;
            const int left = operation.matrix.columns - column;
            float4 value{0.0F, 0.0F, 0.0F, 0.0F};
            if (isRow && left > 0) {
                value = loadFresh(reinterpret_cast<const float4*>(
                    from + static_cast<long long>(row) * stride + column));
                if (isStream && operation.norm != nullptr) {
                    const float4 norm = *reinterpret_cast<const float4*>(operation.norm + column);
                    value = {value.x * scale * norm.x,
                             value.y * scale * norm.y,
                             value.z * scale * norm.z,
                             value.w * scale * norm.w};
                }
                value.y = left > 1 ? value.y : 0.0F;
                value.z = left > 2 ? value.z : 0.0F;
                value.w = left > 3 ? value.w : 0.0F;
            }
            const int to = place * kStagedStride + at;
            if (isQuantised(operation.matrix.form))
                stageQuants<Tiles>(value, place, at, staged);
            else if (operation.matrix.form == Form::F32)
                *reinterpret_cast<float4*>(staged + to * 4) = value;
            else if (operation.matrix.form == Form::Bf16)
                *reinterpret_cast<uint2*>(staged + to * 2) = {packBf16(value.x, value.y),
                                                              packBf16(value.z, value.w)};
            else
                *reinterpret_cast<uint2*>(staged + to * 2) = {packHalf(value.x, value.y),
                                                              packHalf(value.z, value.w)};
        }
    }
}

/// One chunk of 64 columns. Lane 4 g + t has columns 16 t to 16 t + 15 of output g and g + 8.
template <int Tiles, bool IsBf16>
DEVICE void multiplyChunk(
    const uint4 (&a)[kSteps], const char* staged, int chunk, int rows, float (&sums)[Tiles][4]) {
    const auto* in = reinterpret_cast<const std::uint16_t*>(staged) +
                     laneIndex() / 4 * kStagedStride + chunk * 64 + laneIndex() % 4 * 16;
    UNROLL
    for (int tile = 0; tile < Tiles; ++tile) {
        if (tile * 8 >= rows)
            break;
        const auto* b = reinterpret_cast<const uint4*>(in + tile * 8 * kStagedStride);
        const uint4 low = b[0];
        const uint4 high = b[1];
        const uint2 steps[kSteps] = {
            {low.x, low.y}, {low.z, low.w}, {high.x, high.y}, {high.z, high.w}};
        UNROLL
        for (int step = 0; step < kSteps; ++step)
            if constexpr (IsBf16)
                multiplyBf16(sums[tile], a[step], steps[step]);
            else
                multiplyHalf(sums[tile], a[step], steps[step]);
    }
}

/// One chunk of 32 columns in float32: lane 4 g + t has two neighbouring columns of eight.
template <int Tiles>
DEVICE void multiplyChunkF32(
    const uint4 (&a)[kSteps], const char* staged, int chunk, int rows, float (&sums)[Tiles][8][2]) {
    const float* in = reinterpret_cast<const float*>(staged) + chunk * 32 + laneIndex() % 4 * 2;
    UNROLL
    for (int step = 0; step < kSteps; ++step) {
        const float low[2] = {floatOfBits(a[step].x), floatOfBits(a[step].y)};
        const float high[2] = {floatOfBits(a[step].z), floatOfBits(a[step].w)};
        UNROLL
        for (int tile = 0; tile < Tiles; ++tile)
            UNROLL
        for (int row = 0; row < 8; ++row) {
            if (tile * 8 + row >= rows)
                break;
            const float* b = in + (tile * 8 + row) * kStagedStride + step * 8;
            float* sum = sums[tile][row];
            sum[0] = multiplyAdd(low[1], b[1], multiplyAdd(low[0], b[0], sum[0]));
            sum[1] = multiplyAdd(high[1], b[1], multiplyAdd(high[0], b[0], sum[1]));
        }
    }
}

/// The slab's sums of one strip: this lane's numbers are outputs g and g + 8 of rows 2t, 2t + 1.
template <int Tiles>
DEVICE void multiplyUnit(const Operation& operation,
                         int unit,
                         int rows,
                         char* staged,
                         WeightStream& stream,
                         float (&sums)[Tiles][4]) {
    const int chunks = chunksOf(operation.matrix, unit);
    if (isQuantised(operation.matrix.form)) {
        multiplyQuantUnit<Tiles>(operation.matrix, chunks, rows, staged, stream, sums);
        return;
    }
    uint4 a[kSteps];
    if (operation.matrix.form == Form::F32) {
        if constexpr (Tiles <= 2) {
            float own[Tiles][8][2] = {};
            for (int chunk = 0; chunk < chunks; ++chunk) {
                stream.take(a);
                multiplyChunkF32<Tiles>(a, staged, chunk, rows, own);
                stream.goOn();
            }
            UNROLL
            for (int tile = 0; tile < Tiles; ++tile)
                UNROLL
            for (int row = 0; row < 8; ++row)
                UNROLL
            for (int high = 0; high < 2 && tile * 8 + row < rows; ++high) {
                float sum = own[tile][row][high];
                sum += shuffleXor(sum, 1);
                sum += shuffleXor(sum, 2);
                if (laneIndex() % 4 == row / 2)
                    sums[tile][high * 2 + row % 2] = sum;
            }
        }
        return;
    }
    for (int chunk = 0; chunk < chunks; ++chunk) {
        stream.take(a);
        if (operation.matrix.form == Form::Bf16)
            multiplyChunk<Tiles, true>(a, staged, chunk, rows, sums);
        else
            multiplyChunk<Tiles, false>(a, staged, chunk, rows, sums);
        stream.goOn();
    }
}

/// Sum of the slabs in order, and what the network does behind the matrix. All threads; each has
/// one output of one of two rows.
DEVICE void finishStrip(const PassArguments& pass,
                        const Operation& operation,
                        int place,
                        int strip,
                        const BlockSpace& space) {
    const DeviceMatrix& matrix = operation.matrix;
    const int column = threadIndex() % kStrip;
    const int output = strip * kStrip + column;
    const int rows = inputRows(pass, operation);
    for (int first = 0; first < rows; first += kThreads / kStrip) {
        const int row = first + threadIndex() / kStrip;
        const bool isRow = row < rows;
        float sum = 0.0F;
        if (isRow) {
            const int slabs = matrix.slabs;
            for (int i = 0; i < slabs; ++i) {
                const bool isBackwards = hasFault(Fault::CutByRows) && rows > 1;
                const int slab = isBackwards ? slabs - 1 - i : i;
                sum += loadFresh(
                    pass.partials +
                    ((static_cast<long long>(slab) * matrix.strips + strip) * pass.rowStride +
                     row) *
                        kStrip +
                    column);
            }
            if (operation.bias != nullptr)
                sum += operation.bias[output];
        }
        const long long at =
            static_cast<long long>(row) * matrix.strips * kStrip + output; // of most outputs
        switch (operation.output) {
        case Output::Projected:
            if (isRow && output < matrix.outputs)
                pass.projected[static_cast<long long>(row) * projectedStride(pass) +
                               operation.firstOutput + output] = sum;
            break;
        case Output::AddToStream:
            addToStream(pass, operation, place, strip, row, sum * operation.scale, space.scratch);
            break;
        case Output::Router:
            if (isRow && output < pass.experts)
                pass.routed[row * kMostExperts + output] = sum;
            break;
        case Output::AddedExpert: // in the order of the experts
            if (isRow) {
                const float weight = loadFresh(pass.routed + row * kMostExperts + operation.index);
                if (weight >= 0.0F && !isFinite(sum))
                    noteNotFinite(pass, place, 0, row);
                const float before = operation.index == 0 ? 0.0F : loadFresh(pass.added + at);
                sum = weight >= 0.0F ? multiplyAdd(weight, sum, before) : before;
            }
            [[fallthrough]];
        case Output::Added: {
            const float squares = stripSum(sum * sum, space.scratch);
            if (isRow) {
                pass.added[at] = sum;
                if (column == 0)
                    pass.addedSquares[row * pass.hiddenStrips + strip] = squares;
                if (!isFinite(sum))
                    noteNotFinite(pass, place, 0, row);
            }
            break;
        }
        case Output::Gate: { // 16 outputs of the gate and 16 of up by turns
            syncBlock();
            space.scratch[threadIndex()] = sum;
            syncBlock();
            if (isRow && !isFinite(sum) && pass.experts == 0)
                noteNotFinite(pass, place, column % 32 < 16 ? 0 : 1, row);
            if (isRow && column % 32 < 16)
                pass.inner[static_cast<long long>(row) * pass.innerStride + output / 32 * 16 +
                           column % 16] = (pass.isSilu != 0 ? silu(sum) : geluTanh(sum)) *
                                          space.scratch[threadIndex() + 16];
            break;
        }
        case Output::Logits: {
            const float logit = softCap(sum * pass.logitScale, pass.logitCap);
            if (isRow && output < pass.vocab && !isFinite(logit))
                noteNotFinite(pass, place, 0, pass.headRows[row]);
            if (row < pass.logitCount)
                pass.logits[at] = logit;
            syncBlock();
            space.scratch[threadIndex()] = logit;
            syncBlock();
            if (warpIndex() < 2 && first + warpIndex() < rows)
                summariseStrip(
                    pass, space.scratch + warpIndex() * kStrip, first + warpIndex(), strip);
            break;
        }
        }
    }
    syncBlock();
}

template <int Tiles>
DEVICE void runLinear(const PassArguments& pass,
                      const Operation& operation,
                      int place,
                      WeightStream& stream,
                      const BlockSpace& space) {
    const DeviceMatrix& matrix = operation.matrix;
    const UnitRange share = shareOf(unitsOf(matrix), operation.offset);
    const int rows = inputRows(pass, operation);
    int stagedSlab = -1;
    for (int unit = share.next; unit < share.end; ++unit) {
        const int slab = unit / matrix.strips;
        const int strip = unit % matrix.strips;
        if (slab != stagedSlab) {
            syncBlock();
            stageRows<Tiles>(pass, operation, slab, space.staged);
            if (!hasFault(Fault::MissingBarrier))
                syncBlock();
            stagedSlab = slab;
        }
        float sums[Tiles][4] = {};
        multiplyUnit<Tiles>(operation, unit, rows, space.staged, stream, sums);
        float* out = pass.partials + static_cast<long long>(unit) * pass.rowStride * kStrip +
                     warpIndex() * 16 + laneIndex() / 4;
        UNROLL
        for (int tile = 0; tile < Tiles; ++tile)
            UNROLL
        for (int i = 0; i < 4; ++i) {
            const int row = tile * 8 + laneIndex() % 4 * 2 + i % 2;
            if (row < rows)
                out[row * kStrip + i / 2 * 8] = sums[tile][i];
        }
        syncBlock();
        if (threadIndex() == 0) {
            const auto slabs = static_cast<unsigned>(matrix.slabs);
            const unsigned wanted =
                hasFault(Fault::EarlyFinish) && slabs > 1 ? slabs - 2 : slabs - 1;
            const unsigned before = arrive(pass.arrivals + strip);
            *space.isLast = before == wanted ? 1U : 0U;
            if (before == slabs - 1)
                pass.arrivals[strip] = 0;
        }
        syncBlock();
        if (*space.isLast != 0)
            finishStrip(pass, operation, place, strip, space);
    }
}

} // namespace backend_cuda
