// SPDX-License-Identifier: Apache-2.0
// Functions of numbers, the same operations in the same order on a GPU and on a processor.
#pragma once

#include "plugins/backend_cuda/kernels/device_words.h"

namespace backend_cuda {

/// e^x by its series behind the nearest power of two; 0 below the smallest normal number.
DEVICE float exponential(float x) {
    if (!(x > -87.0F))
        return x == x ? 0.0F : x;
    if (x > 88.72F)
        return floatOfBits(0x7f800000U);
    constexpr float kToNearest = 12582912.0F; // adding it leaves no bits behind the point
    const float power = multiplyAdd(x, 1.44269504F, kToNearest) - kToNearest;
    float rest = multiplyAdd(power, -0.693359375F, x); // log 2 in two parts, the first one exact
    rest = multiplyAdd(power, 2.12194440e-4F, rest);
    float sum = 1.0F / 5040.0F;
    sum = multiplyAdd(sum, rest, 1.0F / 720.0F);
    sum = multiplyAdd(sum, rest, 1.0F / 120.0F);
    sum = multiplyAdd(sum, rest, 1.0F / 24.0F);
    sum = multiplyAdd(sum, rest, 1.0F / 6.0F);
    sum = multiplyAdd(sum, rest, 0.5F);
    sum = multiplyAdd(sum, rest, 1.0F);
    sum = multiplyAdd(sum, rest, 1.0F);
    const int whole = static_cast<int>(power);
    const int half = whole / 2; // 2^128 alone is no float
    return sum * floatOfBits(static_cast<unsigned>(half + 127) << 23U) *
           floatOfBits(static_cast<unsigned>(whole - half + 127) << 23U);
}

DEVICE float hyperbolicTangent(float x) {
    const float size = x < 0.0F ? -x : x;
    if (!(size > 0.25F)) { // the series: there the other way would cancel
        const float square = x * x;
        float sum = 62.0F / 2835.0F;
        sum = multiplyAdd(sum, square, -17.0F / 315.0F);
        sum = multiplyAdd(sum, square, 2.0F / 15.0F);
        sum = multiplyAdd(sum, square, -1.0F / 3.0F);
        return multiplyAdd(sum * square, x, x);
    }
    const float found = 1.0F - 2.0F / (exponential(2.0F * size) + 1.0F);
    return x < 0.0F ? -found : found;
}

/// cap * tanh(x / cap); a cap of 0 leaves x alone.
DEVICE float softCap(float x, float cap) {
    return cap > 0.0F ? cap * hyperbolicTangent(x / cap) : x;
}

DEVICE float silu(float x) { return x / (1.0F + exponential(-x)); }

/// GELU by its formula with tanh. Source: arXiv 1606.08415.
DEVICE float geluTanh(float x) {
    const float turned = 0.797884561F * multiplyAdd(0.044715F * x * x, x, x);
    return 0.5F * x * (1.0F + hyperbolicTangent(turned));
}

/// Sum over the lanes of a warp, the same tree in every one of them.
template <typename Number> DEVICE Number warpSum(Number value) {
    for (int mask = 16; mask > 0; mask >>= 1)
        value += shuffleXor(value, mask);
    return value;
}

} // namespace backend_cuda
