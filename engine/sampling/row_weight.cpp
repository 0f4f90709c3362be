// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/row_weight.h"

#include "engine/sampling/noise/exponential.h"

#include <cstddef>

namespace engine {

namespace {

constexpr std::size_t kPiece = 64;
constexpr std::size_t kChains = 8;

struct RowScale {
    double highest;
    double temperature;
};

/// Adds the weights of a piece to the running sums. The loops on raw arrays are simple enough for
/// the compiler to vectorise; the result must not depend on the vector width.
[[gnu::always_inline]] inline void
addPiece(const double* logits, std::size_t count, const RowScale& scale, double* chains) {
    double weights[kPiece];
    for (std::size_t i = 0; i < count; ++i)
        weights[i] = (logits[i] - scale.highest) / scale.temperature;
    for (std::size_t i = count; i < kPiece; ++i)
        weights[i] = kLeastExponent;
    for (std::size_t i = 0; i < kPiece; ++i)
        weights[i] = weights[i] < kLeastExponent ? kLeastExponent : weights[i];
    for (std::size_t i = 0; i < kPiece; ++i)
        weights[i] = exponentialOf(weights[i]);
    for (std::size_t i = 0; i < kPiece; i += kChains)
        for (std::size_t chain = 0; chain < kChains; ++chain)
            chains[chain] += weights[i + chain];
}

[[gnu::always_inline]] inline void
addRow(const double* logits, std::size_t size, const RowScale& scale, double* chains) {
    std::size_t begin = 0;
    for (; begin + kPiece <= size; begin += kPiece)
        addPiece(logits + begin, kPiece, scale, chains);
    if (begin < size)
        addPiece(logits + begin, size - begin, scale, chains);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void
addRowAvx2(const double* logits, std::size_t size, const RowScale& scale, double* chains) {
    addRow(logits, size, scale, chains);
}

bool hasAvx2() { return __builtin_cpu_supports("avx2") != 0; }
#endif

} // namespace

double rowWeight(std::span<const double> logits, double highest, double temperature) {
    const RowScale scale{highest, temperature};
    double chains[kChains] = {};
#if defined(__x86_64__)
    // Half as many instructions for the same sums; contraction is off, so the bits are the same.
    if (hasAvx2())
        addRowAvx2(logits.data(), logits.size(), scale, chains);
    else
#endif
        addRow(logits.data(), logits.size(), scale, chains);
    double total = 0.0;
    for (const double chain : chains)
        total += chain;
    return total;
}

} // namespace engine
