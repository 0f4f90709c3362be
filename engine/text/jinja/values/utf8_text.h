// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Texts as Python sees them: sequences of code points, held in UTF-8.
namespace engine::jinja::utf8 {

/// A byte that starts no valid UTF-8 sequence is a character of its own with this value.
inline constexpr char32_t kInvalid = 0xFFFFFFFF;

struct Character {
    char32_t codePoint = kInvalid;
    std::size_t bytes = 1;
};

/// The character that starts at this offset (which must be inside the text).
Character characterAt(std::string_view text, std::size_t offset);

void append(std::string& text, char32_t codePoint);

std::size_t characterCount(std::string_view text);

/// Offsets of all characters and, last, of the end.
std::vector<std::size_t> characterOffsets(std::string_view text);

/// Python's str.isspace for one character.
bool isSpace(char32_t codePoint);
/// Python's str.isprintable for one character.
bool isPrintable(char32_t codePoint);
bool isLetter(char32_t codePoint);
bool isDecimal(char32_t codePoint);
bool isNumeric(char32_t codePoint);
bool isUpper(char32_t codePoint);
bool isLower(char32_t codePoint);

std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string capitalized(std::string_view text);
std::string swappedCase(std::string_view text);

/// str.title(): every run of letters starts with a capital.
std::string titled(std::string_view text);

} // namespace engine::jinja::utf8
