// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond U+10FFFF.
namespace engine::utf8 {

/// U+FFFD, what stands for bytes that form no character.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
/// U+2581, how SentencePiece vocabularies spell a space.
inline constexpr std::string_view kSpaceSymbol = "\xE2\x96\x81";

enum class Kind : std::uint8_t {
    Valid,      ///< a whole character
    Invalid,    ///< the longest start of a character that can never be completed (at least a byte)
    Incomplete, ///< the text ends inside a character that is right so far
};

/// What the first bytes of a text are, and how many of them belong together.
struct Prefix {
    Kind kind = Kind::Valid;
    std::size_t length = 0;
};

/// Looks at the first character of a text that is not empty.
Prefix inspect(std::string_view text);

/// Byte offset of the first byte that is not part of a whole character, if there is one.
std::optional<std::size_t> findInvalid(std::string_view text);

/// The first character of a valid text that is not empty; its length goes to `length`.
char32_t firstCodePoint(std::string_view text, std::size_t& length);

/// The last character of a valid text that is not empty; its length goes to `length`.
char32_t lastCodePoint(std::string_view text, std::size_t& length);

/// Appends one character.
void append(char32_t codePoint, std::string& out);

/// Length in bytes of a character of a valid text by its first byte.
std::size_t lengthByFirstByte(char first);

/// The Unicode property White_Space.
bool isWhiteSpace(char32_t codePoint);

/// Letters, marks, decimal digits, connectors and joiners: `\w` of Rust's regex library.
bool isWordCharacter(char32_t codePoint);

/// Bytes as they come, turned into whole characters; each longest broken start of a character
/// becomes one U+FFFD, as Rust's String::from_utf8_lossy does. Thread: one.
class LossyDecoder {
public:
    /// Appends to `out` what is certain now.
    void push(std::string_view bytes, std::string& out);
    /// Appends what the end of the text settles.
    void finish(std::string& out);

private:
    std::string m_pending; // at most three bytes between calls
};

} // namespace engine::utf8
