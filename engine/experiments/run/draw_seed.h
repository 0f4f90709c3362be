// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/counter_random.h"

#include <cstdint>
#include <string_view>

namespace engine {

/// The seed of a variant's `draw`-th continuation of a prompt, of its own among all continuations
/// of a run: samples drawn under them are independent. A function of its arguments alone.
constexpr std::uint64_t
drawSeed(std::uint64_t seed, std::string_view variant, int prompt, int draw) {
    std::uint64_t mixed = mixBits(seed);
    for (const char letter : variant)
        mixed = mixBits(mixed ^ static_cast<unsigned char>(letter));
    mixed = mixBits(mixed ^ static_cast<std::uint64_t>(prompt));
    return mixBits(mixed ^ static_cast<std::uint64_t>(draw));
}

} // namespace engine
