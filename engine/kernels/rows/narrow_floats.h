// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/rows/attention/attend_arguments.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace engine {

// Numbers of 8 and 16 bits, one at a time, where speed does not matter; never included by files
// that are compiled for one instruction set.

inline float floatOfBf16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// Rounded to nearest even; NaN stays NaN.
inline std::uint16_t bf16OfFloat(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    if (value != value)
        return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
    return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

inline float floatOfF16(std::uint16_t bits) {
    const std::uint32_t sign = (bits & 0x8000U) << 16;
    const std::uint32_t magnitude = (bits & 0x7FFFU) << 13;
    constexpr std::uint32_t kInfinity = 0x7C00U << 13;
    if (magnitude >= kInfinity) {
        const std::uint32_t quiet = magnitude > kInfinity ? 0x400000U : 0U;
        return std::bit_cast<float>(sign | 0x7F800000U | magnitude | quiet);
    }
    // The exponents' biases differ by 112; the product is exact for subnormal numbers too.
    const float value = std::bit_cast<float>(magnitude) * 0x1p112F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

/// Rounded to nearest even, to infinity beyond 65519; NaN stays NaN.
inline std::uint16_t f16OfFloat(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 16 & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
    std::uint32_t result = 0;
    if (magnitude > 0x7F800000U) {
        result = 0x7E00U | (magnitude >> 13 & 0x1FFU);
    } else if (magnitude >= 0x47800000U) { // 65536 and more
        result = 0x7C00U;
    } else if (magnitude < 0x38800000U) { // below 2^-14: a multiple of 2^-24
        // Added to 1/2, whose last place is 2^-24, the number is rounded to that place.
        const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
        result = std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U;
    } else {
        const std::uint32_t rounded = magnitude + 0xFFFU + (magnitude >> 13 & 1U);
        result = (rounded >> 13) - (112U << 10);
    }
    return static_cast<std::uint16_t>(sign | result);
}

/// Number `i` of a row of keys or values.
inline float kvNumber(const std::byte* row, KvElement element, int headDim, int i) {
    if (element == KvElement::Int8) {
        float scale = 0.0F;
        std::memcpy(&scale, row + headDim + i / kQuantGroup * 4, sizeof scale);
        return static_cast<float>(static_cast<std::int8_t>(row[i])) * scale;
    }
    if (element == KvElement::F32) {
        float number = 0.0F;
        std::memcpy(&number, row + i * 4, sizeof number);
        return number;
    }
    std::uint16_t bits = 0;
    std::memcpy(&bits, row + i * 2, sizeof bits);
    return element == KvElement::BF16 ? floatOfBf16(bits) : floatOfF16(bits);
}

} // namespace engine
