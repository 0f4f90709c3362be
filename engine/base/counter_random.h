// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"

#include <cmath>
#include <cstdint>

namespace engine {

/// One round of the SplitMix64 finaliser: every input bit changes about half of the output bits.
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
constexpr std::uint64_t mixBits(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31U);
}

/// The contribution of seed and position to a random number; tokens of one position share it.
constexpr std::uint64_t counterKey(std::uint64_t seed, std::uint64_t position) {
    return mixBits(mixBits(seed) ^ position);
}

/// Random numbers are below this.
inline constexpr std::uint64_t kCounterRange = std::uint64_t{1} << 53U;

/// A random whole number below kCounterRange.
constexpr std::uint64_t counterBits(std::uint64_t key, TokenId token) {
    return mixBits(key ^ static_cast<std::uint64_t>(static_cast<std::uint32_t>(token))) >> 11U;
}

/// The number in (0, 1) of 53 random bits, centred between the grid points, so that neither 0 nor 1
/// can come out: the last one, which would be rounded to 1, is the greatest number below.
constexpr double uniformOf(std::uint64_t bits) {
    const double uniform = (static_cast<double>(bits) + 0.5) * 0x1.0p-53;
    return uniform < 1.0 ? uniform : 0x1.fffffffffffffp-1;
}

/// The standard Gumbel number of 53 random bits.
inline double gumbelOf(std::uint64_t bits) { return -std::log(-std::log(uniformOf(bits))); }

/// A uniform number in (0, 1), a function of its three keys alone: repeatable in any order.
constexpr double counterUniform(std::uint64_t seed, std::uint64_t position, TokenId token) {
    return uniformOf(counterBits(counterKey(seed, position), token));
}

/// A standard Gumbel number for (seed, output position, token id); argmax of log p + this draws
/// from p.
inline double counterGumbel(std::uint64_t seed, std::uint64_t position, TokenId token) {
    return gumbelOf(counterBits(counterKey(seed, position), token));
}

} // namespace engine
