// SPDX-License-Identifier: Apache-2.0
// Included by row_bodies.inl: the sections of a row's keys become one, on the lanes that the
// including file defines.
#pragma once

#include "engine/kernels/rows/attention/attend_bodies.inl"

namespace engine {

namespace {

/// What a head's sums so far and those of a section are multiplied with when it joins them, of up
/// to kLanes sections.
struct SectionFactors {
    float earlier[kLanes];
    float section[kLanes];
};

/// The factors of some sections behind the first one, and what their weights sum up to with those
/// before. One factor of each pair is e^0.
inline SectionFactors
sectionFactors(const AttendSums* sections, int count, int head, AttendTotal& total) {
    SectionFactors factors = {};
    bool isHigher[kLanes]; // what was before
    float below[kLanes] = {};
    for (int i = 0; i < count; ++i) {
        const float other = sections[i].totals[head].highest;
        isHigher[i] = total.highest > other;
        below[i] = isHigher[i] ? other - total.highest : total.highest - other;
        total.highest = isHigher[i] ? total.highest : other;
    }
    store(below, exponential(load(below)));
    for (int i = 0; i < count; ++i) {
        factors.earlier[i] = isHigher[i] ? 1.0F : below[i];
        factors.section[i] = isHigher[i] ? below[i] : 1.0F;
        total.weights = total.weights * factors.earlier[i] +
                        sections[i].totals[head].weights * factors.section[i];
    }
    return factors;
}

/// Adds some sections to kWidth vectors of the numbers from `at` on; the last one may be short.
template <int kWidth>
inline void addSections(const AttendSums* sections,
                        int count,
                        const SectionFactors& factors,
                        int at,
                        int left,
                        float* out) {
    const auto leftOf = [&](int i) { return left - i * kLanes; };
    Lanes sums[kWidth];
#pragma GCC unroll 4
    for (int i = 0; i < kWidth; ++i)
        sums[i] = loadUpTo(out + i * kLanes, leftOf(i));
    for (int section = 0; section < count; ++section) {
        const float* values = sections[section].values + at;
        const Lanes earlier = broadcast(factors.earlier[section]);
        const Lanes factor = broadcast(factors.section[section]);
#pragma GCC unroll 4
        for (int i = 0; i < kWidth; ++i)
            sums[i] = productPlus(
                loadUpTo(values + i * kLanes, leftOf(i)), factor, product(sums[i], earlier));
    }
#pragma GCC unroll 4
    for (int i = 0; i < kWidth; ++i)
        storeUpTo(out + i * kLanes, leftOf(i), sums[i]);
}

void joinSections(int groupSize, int headDim, const AttendSums* sections, int count, float* out) {
    constexpr int kWidth = 4;
    for (int head = 0; head < groupSize; ++head, out += headDim) {
        AttendTotal total = sections->totals[head];
        const int begin = head * headDim;
        for (int i = 0; i < headDim; i += kLanes)
            storeUpTo(out + i, headDim - i, loadUpTo(sections->values + begin + i, headDim - i));
        for (int first = 1; first < count; first += kLanes) {
            const AttendSums* const some = sections + first;
            const int joined = count - first < kLanes ? count - first : kLanes;
            const SectionFactors factors = sectionFactors(some, joined, head, total);
            int i = 0;
            for (; i + kWidth * kLanes <= headDim; i += kWidth * kLanes)
                addSections<kWidth>(some, joined, factors, begin + i, headDim - i, out + i);
            for (; i < headDim; i += kLanes)
                addSections<1>(some, joined, factors, begin + i, headDim - i, out + i);
        }
        divideRow(out, headDim, total.weights);
    }
}

} // namespace

} // namespace engine
