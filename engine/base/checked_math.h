// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>

/// Arithmetic for every number from a file: no result is better than one that overflowed.
namespace engine::checked {

/// a + b, or nothing when it does not fit.
inline std::optional<std::uint64_t> add(std::uint64_t a, std::uint64_t b) {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::nullopt : std::optional(sum);
}

/// a * b, or nothing when it does not fit.
inline std::optional<std::uint64_t> mul(std::uint64_t a, std::uint64_t b) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? std::nullopt : std::optional(product);
}

/// The smallest multiple of `alignment` (a power of two) that is not below `value`.
inline std::optional<std::uint64_t> alignUp(std::uint64_t value, std::uint64_t alignment) {
    const std::uint64_t mask = alignment - 1;
    const auto raised = add(value, mask);
    return raised ? std::optional(*raised & ~mask) : std::nullopt;
}

/// The same number in another integer type, or nothing when it does not fit there.
template <std::integral To, std::integral From> std::optional<To> narrow(From value) {
    To converted = 0;
    return __builtin_add_overflow(value, From{0}, &converted) ? std::nullopt
                                                              : std::optional(converted);
}

} // namespace engine::checked
