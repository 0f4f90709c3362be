// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace engine {

/// Exponents below have no weight.
inline constexpr double kLeastExponent = -700.0;

/// e^x for x <= 0, within 1e-14 of its value; 0 for x below kLeastExponent. Plain arithmetic
/// without branches, which compilers can vectorise, with the same bits everywhere: 2^n e^r with |r|
/// <= ln(2) / 2 and the series of e^r to r^11, whose rest is below 7e-15.
inline double exponentialOf(double x) {
    constexpr double kWhole = 0x1.8p52; // numbers of this size have no fractional part
    const double shifted = x * 1.4426950408889634 + kWhole;
    const double power = shifted - kWhole;
    // ln(2) in two parts, the first so short that power * part is exact.
    const double rest = (x - power * 0x1.62e42fee00000p-1) - power * 0x1.a39ef35793c76p-33;
    double series = 1.0 / 39916800.0;
    series = series * rest + 1.0 / 3628800.0;
    series = series * rest + 1.0 / 362880.0;
    series = series * rest + 1.0 / 40320.0;
    series = series * rest + 1.0 / 5040.0;
    series = series * rest + 1.0 / 720.0;
    series = series * rest + 1.0 / 120.0;
    series = series * rest + 1.0 / 24.0;
    series = series * rest + 1.0 / 6.0;
    series = series * rest + 0.5;
    series = series * rest + 1.0;
    series = series * rest + 1.0;
    // The last bits of `shifted` hold n; they are added to the exponent.
    const std::uint64_t scaled =
        std::bit_cast<std::uint64_t>(series) + (std::bit_cast<std::uint64_t>(shifted) << 52U);
    return std::bit_cast<double>(scaled);
}

} // namespace engine
