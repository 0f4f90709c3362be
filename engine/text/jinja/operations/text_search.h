// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Python's ways to look into a text and take it apart. All take time in proportion to the texts'
/// lengths, whatever the bytes.
namespace engine::jinja {

enum class Side : std::uint8_t { Left, Right, Both };

/// Byte offset of the first occurrence from `start` on, or npos.
std::size_t findText(std::string_view text, std::string_view wanted, std::size_t start);

/// Byte offset of the last occurrence, or npos.
std::size_t findLastText(std::string_view text, std::string_view wanted);

/// Occurrences that do not overlap; an empty `wanted` occurs around every character.
std::size_t countText(std::string_view text, std::string_view wanted);

/// str.strip, lstrip, rstrip: without `characters`, whitespace goes.
std::string_view
stripped(std::string_view text, std::optional<std::string_view> characters, Side side);

/// str.split(separator, limit), from the right with Side::Right; a negative limit means all.
/// Without a separator the text is split at runs of whitespace. The separator is not empty.
std::vector<std::string_view> splitText(std::string_view text,
                                        std::optional<std::string_view> separator,
                                        std::int64_t limit,
                                        Side from);

/// str.splitlines.
std::vector<std::string_view> splitLines(std::string_view text, bool keepsEnds);

/// str.replace for at most `limit` occurrences.
std::string replaceText(std::string_view text,
                        std::string_view wanted,
                        std::string_view replacement,
                        std::size_t limit);

} // namespace engine::jinja
