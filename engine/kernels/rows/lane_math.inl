// SPDX-License-Identifier: Apache-2.0
// Included by the bodies: what they share, on the 16 lanes that the including file
// defines.
#pragma once

namespace engine {

namespace {

constexpr int kLanes = 16;
constexpr float kInfinity = __builtin_inff();
constexpr float kNan = __builtin_nanf("");

/// 16 numbers, of which the last may be missing; these are `rest`. `left` may exceed 16.
inline Lanes loadUpTo(const float* from, int left, float rest = 0.0F) {
    return left >= kLanes ? load(from) : loadFirst(from, left, broadcast(rest));
}

inline void storeUpTo(float* to, int left, Lanes x) {
    if (left >= kLanes)
        store(to, x);
    else
        storeFirst(to, left, x);
}

/// e^x within 1 unit in the last place: 2^n e^r with |r| <= ln(2) / 2 and the series of e^r to
/// r^7, whose rest is below 1e-8. 0 and infinity beyond float's range; NaN stays NaN; 1 for 0.
inline Lanes exponential(Lanes x) {
    const Lanes bounded = lower(broadcast(89.0F), higher(broadcast(-105.0F), x));
    const Lanes power = nearestWhole(product(bounded, broadcast(1.44269504F)));
    // ln(2) in two parts, the first so short that power * part is exact.
    const Lanes coarse = minusProduct(bounded, power, broadcast(0.693359375F));
    const Lanes rest = minusProduct(coarse, power, broadcast(-2.12194440e-4F));
    Lanes series = broadcast(1.0F / 5040.0F);
    series = productPlus(series, rest, broadcast(1.0F / 720.0F));
    series = productPlus(series, rest, broadcast(1.0F / 120.0F));
    series = productPlus(series, rest, broadcast(1.0F / 24.0F));
    series = productPlus(series, rest, broadcast(1.0F / 6.0F));
    series = productPlus(series, rest, broadcast(0.5F));
    series = productPlus(series, rest, broadcast(1.0F));
    series = productPlus(series, rest, broadcast(1.0F));
    return timesPowerOfTwo(series, power);
}

/// cap * tanh(x / cap), where tanh(y) = 1 - 2 / (1 + e^2y); NaN stays NaN.
inline Lanes capped(Lanes x, float cap) {
    const Lanes grown = exponential(product(x, broadcast(2.0F / cap)));
    const Lanes part = quotient(broadcast(2.0F), sum(broadcast(1.0F), grown));
    return product(difference(broadcast(1.0F), part), broadcast(cap));
}

inline float exponential(float x) {
    float lanes[kLanes];
    store(lanes, exponential(broadcast(x)));
    return lanes[0];
}

inline float squareRoot(float x) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))); }

/// Sums of the values of each half of a quantised group.
struct HalfSums {
    std::int32_t low;
    std::int32_t high;
};

/// One group. `values` [kQuantGroup]; `low` and `high` are its halves; `scales`: its scale, and
/// times the sum.
inline HalfSums quantizeGroup(Lanes low, Lanes high, std::int8_t* values, float* scales) {
    constexpr std::int32_t kInfinityBits = 0x7F800000;
    constexpr float kSmallest = 1.0e-36F; // below it 127 / highest overflows: such a group is 0
    const std::int32_t bits = highestMagnitude(low, high);
    const float highest = _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(bits)));
    const bool isFinite = bits < kInfinityBits;
    if (!isFinite || highest < kSmallest) {
        storeBytes(values, broadcast(0.0F));
        storeBytes(values + kLanes, broadcast(0.0F));
        scales[0] = isFinite ? 0.0F : kNan;
        scales[1] = scales[0];
        return {0, 0};
    }
    const Lanes inverse = broadcast(127.0F / highest);
    const HalfSums sums{storeBytes(values, product(low, inverse)),
                        storeBytes(values + kLanes, product(high, inverse))};
    scales[0] = highest / 127.0F;
    scales[1] = scales[0] * static_cast<float>(sums.low + sums.high);
    return sums;
}

/// Four chains of sums, vector i in chain i modulo 4; then ((0 + 1) + (2 + 3)), then the lanes.
inline float sumOfSquares(const float* in, int width) {
    constexpr int kChains = 4;
    Lanes sums[kChains] = {broadcast(0.0F), broadcast(0.0F), broadcast(0.0F), broadcast(0.0F)};
    int i = 0;
    for (; i + kChains * kLanes <= width; i += kChains * kLanes)
#pragma GCC unroll 4
        for (int chain = 0; chain < kChains; ++chain) {
            const Lanes x = load(in + i + chain * kLanes);
            sums[chain] = productPlus(x, x, sums[chain]);
        }
    for (int chain = 0; i < width; i += kLanes, ++chain) {
        const Lanes x = loadUpTo(in + i, width - i);
        sums[chain] = productPlus(x, x, sums[chain]);
    }
    return sumOfLanes(sum(sum(sums[0], sums[1]), sum(sums[2], sums[3])));
}

} // namespace

} // namespace engine
