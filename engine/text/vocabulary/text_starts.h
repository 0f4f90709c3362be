// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace engine {

/// Visits the elements with which a text begins, shortest first, of a range that is sorted by its
/// elements' texts: `textOf` tells them; none is empty and none is there twice.
template <typename Iterator, typename TextOf, typename Visit>
void forEachStart(
    Iterator first, Iterator last, std::string_view text, TextOf textOf, Visit visit) {
    for (std::size_t length = 1; length <= text.size() && first != last; ++length) {
        // Narrows the range to those that agree with the text so far.
        const auto wanted = static_cast<std::uint8_t>(text[length - 1]);
        const auto byteOf = [&](const auto& element) {
            return static_cast<std::uint8_t>(textOf(element)[length - 1]);
        };
        first = std::partition_point(
            first, last, [&](const auto& element) { return byteOf(element) < wanted; });
        last = std::partition_point(
            first, last, [&](const auto& element) { return byteOf(element) == wanted; });
        if (first != last && textOf(*first).size() == length)
            visit(*first++);
    }
}

} // namespace engine
