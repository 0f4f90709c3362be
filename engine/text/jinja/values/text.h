// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/vocabulary/utf8.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Texts as Python sees them: sequences of code points, held in UTF-8. Looking into a text and
/// taking it apart takes time in proportion to the texts' lengths, whatever the bytes.
namespace engine::jinja {

namespace utf8 {

/// A byte that starts no valid UTF-8 sequence is a character of its own with this value.
inline constexpr char32_t kInvalid = 0xFFFFFFFF;

struct Character {
    char32_t codePoint = kInvalid;
    std::size_t bytes = 1;
};

/// The character that starts at this offset (which must be inside the text).
Character characterAt(std::string_view text, std::size_t offset);

using engine::utf8::append;

std::size_t characterCount(std::string_view text);

/// Offsets of all characters and, last, of the end.
std::vector<std::size_t> characterOffsets(std::string_view text);

/// Python's str.isspace for one character.
bool isSpace(char32_t codePoint);
/// Python's str.isprintable for one character.
bool isPrintable(char32_t codePoint);

std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string capitalized(std::string_view text);
/// Python's str.title: a capital behind all that is no letter.
std::string titled(std::string_view text);

} // namespace utf8

enum class Side : std::uint8_t { Left, Right, Both };

/// Byte offset of the first occurrence from `start` on, or npos.
std::size_t findText(std::string_view text, std::string_view wanted, std::size_t start);

/// str.strip, lstrip, rstrip: without `characters`, whitespace goes.
std::string_view
stripped(std::string_view text, std::optional<std::string_view> characters, Side side);

/// str.split(separator, limit), or str.rsplit from the right; a negative limit means all. Without a
/// separator the text is split at runs of whitespace. The separator is not empty.
std::vector<std::string_view> splitText(std::string_view text,
                                        std::optional<std::string_view> separator,
                                        std::int64_t limit,
                                        Side from = Side::Left);

/// str.splitlines.
std::vector<std::string_view> splitLines(std::string_view text);

} // namespace engine::jinja
