// SPDX-License-Identifier: Apache-2.0
// Products of quantised weights and rows quantised to 8 bits, a scale for each group of 32 columns.
// Sums over a group are exact whole numbers; scales are applied group by group, in their order. The
// same numbers as those of the cpu backend, in the same order within a slab.
#pragma once

#include "plugins/backend_cuda/kernels/stored_weights.h"

namespace backend_cuda {

constexpr int kQuantStride = kSlab + kGroup; // bytes of a staged row

/// Behind the staged rows, [groups of a slab][2][8 * Tiles]: what one of a row's numbers is worth,
/// then that times the sum of the group's numbers.
template <int Tiles> DEVICE float* stagedScales(char* staged, int group) {
    return reinterpret_cast<float*>(staged + 8 * Tiles * kQuantStride) + group * 2 * 8 * Tiles;
}

/// The nearest whole number, of two the even one. For up to 22 bits.
DEVICE int nearestWhole(float value) {
    return static_cast<int>(bitsOfFloat(value + 12582912.0F)) - 0x4b400000;
}

DEVICE unsigned magnitudeBits(float value) { return bitsOfFloat(value) & 0x7fffffffU; }

/// Stages four columns of a row; eight lanes have a group. All lanes of the warp. A group with a
/// number that is not finite gets a scale that is none.
template <int Tiles> DEVICE void stageQuants(float4 value, int row, int column, char* staged) {
    constexpr float kSmallest = 1.0e-36F; // below it 127 / highest overflows: such a group is 0
    const float numbers[4] = {value.x, value.y, value.z, value.w};
    unsigned highestBits = 0;
    for (const float number : numbers)
        highestBits = magnitudeBits(number) > highestBits ? magnitudeBits(number) : highestBits;
    const int lanes = hasFault(Fault::HalfGroups) ? 4 : 8; // of a group
    for (int mask = 1; mask < lanes; mask <<= 1) {
        const unsigned other = shuffleXor(highestBits, mask);
        highestBits = other > highestBits ? other : highestBits;
    }
    const float highest = floatOfBits(highestBits);
    const bool isZero = !isFinite(highest) || highest < kSmallest;
    const float inverse = 127.0F / (isZero ? 1.0F : highest);
    unsigned word = 0;
    int sum = 0;
    UNROLL
    for (int i = 0; i < 4; ++i) {
        const int quant = isZero ? 0 : nearestWhole(numbers[i] * inverse);
        word |= (static_cast<unsigned>(quant) & 0xffU) << 8 * i;
        sum += quant;
    }
    for (int mask = 1; mask < 8; mask <<= 1)
        sum += shuffleXor(sum, mask);
    // Columns 4 t to 4 t + 3 of a group's two halves lie side by side, as lane t reads them.
    const int group = column / kGroup;
    const int place = column % 16 / 4 * 8 + column % kGroup / 16 * 4;
    *reinterpret_cast<unsigned*>(staged + row * kQuantStride + group * kGroup + place) = word;
    if (laneIndex() % 8 == 0) {
        const float scale =
            isFinite(highest) ? isZero ? 0.0F : highest / 127.0F : floatOfBits(0x7fc00000U);
        float* scales = stagedScales<Tiles>(staged, group) + row;
        scales[0] = scale;
        scales[8 * Tiles] = scale * static_cast<float>(sum);
    }
}

DEVICE void addScaled(float (&sums)[4], const int (&whole)[4], float low, float high, float2 rows) {
    sums[0] = multiplyAdd(low, static_cast<float>(whole[0]) * rows.x, sums[0]);
    sums[1] = multiplyAdd(low, static_cast<float>(whole[1]) * rows.y, sums[1]);
    sums[2] = multiplyAdd(high, static_cast<float>(whole[2]) * rows.x, sums[2]);
    sums[3] = multiplyAdd(high, static_cast<float>(whole[3]) * rows.y, sums[3]);
}

/// One group of a slab: `a` has its whole numbers, and lane 4 g + group % 4 its scales.
template <int Tiles>
DEVICE void multiplyGroup(const DeviceMatrix& matrix,
                          uint4 a,
                          const LaneScales& scales,
                          int group,
                          int rows,
                          char* staged,
                          float (&sums)[Tiles][4]) {
    const int g = laneIndex() / 4;
    const int t = laneIndex() % 4;
    const int from = g * 4 + group % 4;
    float own[4];
    UNROLL
    for (int i = 0; i < 4; ++i)
        own[i] = shuffleFrom(scales.numbers[i], from);
    const char* in = staged + g * kQuantStride + group * kGroup + t * 8;
    const float* rowScales = stagedScales<Tiles>(staged, group) + t * 2;
    UNROLL
    for (int tile = 0; tile < Tiles; ++tile) {
        if (tile * 8 >= rows)
            break;
        const uint2 b = *reinterpret_cast<const uint2*>(in + tile * 8 * kQuantStride);
        const float2 worth = *reinterpret_cast<const float2*>(rowScales + tile * 8);
        int whole[4] = {0, 0, 0, 0};
        if (matrix.bySixteens != 0) {
            multiplyInt8(whole, uint2{a.x, a.y}, b.x);
            addScaled(sums[tile], whole, own[0], own[1], worth);
            int second[4] = {0, 0, 0, 0};
            multiplyInt8(second, uint2{a.z, a.w}, b.y);
            addScaled(sums[tile], second, own[2], own[3], worth);
            continue;
        }
        multiplyInt8(whole, a, b);
        addScaled(sums[tile], whole, own[0], own[1], worth);
        if (matrix.hasMinima != 0) {
            const float2 total = *reinterpret_cast<const float2*>(rowScales + 8 * Tiles + tile * 8);
            sums[tile][0] = multiplyAdd(own[2], total.x, sums[tile][0]);
            sums[tile][1] = multiplyAdd(own[2], total.y, sums[tile][1]);
            sums[tile][2] = multiplyAdd(own[3], total.x, sums[tile][2]);
            sums[tile][3] = multiplyAdd(own[3], total.y, sums[tile][3]);
        }
    }
}

/// The four-bit numbers of one group of a step, as bytes. With minima they are 0 to 15. Without
/// they have a sign and come out sixteen times as large.
DEVICE uint4 unpackInt4(const DeviceMatrix& matrix, uint4 step, int second) {
    const unsigned mask = matrix.hasMinima != 0 ? 0x0f0f0f0fU : 0xf0f0f0f0U;
    const int right = matrix.hasMinima != 0 ? second * 4 : 0;
    const int left = matrix.hasMinima != 0 ? 0 : 4 - second * 4;
    return {step.x >> right << left & mask,
            step.y >> right << left & mask,
            step.z >> right << left & mask,
            step.w >> right << left & mask};
}

/// The slab's sums of one strip: this lane's numbers are outputs g and g + 8 of rows 2t, 2t + 1.
template <int Tiles>
DEVICE void multiplyQuantUnit(const DeviceMatrix& matrix,
                              int chunks,
                              int rows,
                              char* staged,
                              WeightStream& stream,
                              float (&sums)[Tiles][4]) {
    const bool isInt4 = matrix.form == Form::Int4;
    const int groups = isInt4 ? 4 : 2; // of a chunk
    LaneScales scales;
    for (int chunk = 0; chunk < chunks; ++chunk) {
        uint4 steps[3];
        stream.take(steps);
        if ((isInt4 || chunk % 2 == 0) && !(hasFault(Fault::StaleScales) && chunk > 1)) {
            scales = readScales(matrix, steps[2]);
            if (isInt4 && matrix.hasMinima == 0)
                for (float& scale : scales.numbers)
                    scale *= 0.0625F; // exact
        }
        UNROLL
        for (int i = 0; i < 4; ++i) {
            if (i == groups)
                break;
            const uint4 a = isInt4 ? unpackInt4(matrix, steps[i / 2], i % 2) : steps[i % 2];
            multiplyGroup<Tiles>(matrix, a, scales, chunk * groups + i, rows, staged, sums);
        }
        stream.goOn();
    }
}

} // namespace backend_cuda
