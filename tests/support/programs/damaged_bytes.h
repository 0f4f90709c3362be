// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/counter_random.h"

#include <cstdint>
#include <string>

/// Damaged versions of a valid file, for readers that must survive all of them.
namespace test_support {

/// Calls visit(damaged, length) with the first 0, 1, ... size - 1 bytes.
template <typename Visit> void forEachCut(const std::string& bytes, Visit visit) {
    for (std::size_t length = 0; length < bytes.size(); ++length)
        visit(bytes.substr(0, length), length);
}

/// Calls visit(damaged, bit) `count` times, each time with one bit of the file flipped: the same
/// bits for the same seed. Bit b is bit b % 8 of byte b / 8.
template <typename Visit>
void forEachFlip(const std::string& bytes, int count, std::uint64_t seed, Visit visit) {
    for (int i = 0; i < count; ++i) {
        const std::uint64_t draw =
            engine::mixBits(seed ^ engine::mixBits(static_cast<unsigned>(i)));
        const auto bit = static_cast<std::size_t>(draw % (bytes.size() * 8));
        std::string damaged = bytes;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
        visit(damaged, bit);
    }
}

} // namespace test_support
