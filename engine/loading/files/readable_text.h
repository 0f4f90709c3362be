// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace engine {

/// What the first byte of a UTF-8 character tells.
struct Utf8Lead {
    std::size_t length = 0; ///< bytes of the character; 0: none begins so
    // Bounds of the second byte: they exclude overlong forms, surrogates and what is too large.
    unsigned secondMin = 0x80;
    unsigned secondMax = 0xBF;
};

constexpr Utf8Lead utf8Lead(unsigned first) {
    if (first < 0x80)
        return {1};
    if (first >= 0xC2 && first <= 0xDF)
        return {2};
    if (first >= 0xE0 && first <= 0xEF)
        return {3, first == 0xE0 ? 0xA0U : 0x80U, first == 0xED ? 0x9FU : 0xBFU};
    if (first >= 0xF0 && first <= 0xF4)
        return {4, first == 0xF0 ? 0x90U : 0x80U, first == 0xF4 ? 0x8FU : 0xBFU};
    return {};
}

/// Length in bytes of the well-formed UTF-8 character that `text` begins with; 0 when there is
/// none (end of text, stray byte, overlong form, surrogate, beyond U+10FFFF).
std::size_t utf8CharacterLength(std::string_view text);

bool isValidUtf8(std::string_view text);

/// Text from a file as it may appear in a message: control characters and bytes that are no UTF-8
/// become '?', and what is longer than `maxBytes` ends in "...".
std::string readable(std::string_view text, std::size_t maxBytes = 120);

} // namespace engine
