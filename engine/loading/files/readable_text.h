// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace engine {

/// Length in bytes of the well-formed UTF-8 character that `text` begins with; 0 when there is
/// none (end of text, stray byte, overlong form, surrogate, beyond U+10FFFF).
std::size_t utf8CharacterLength(std::string_view text);

bool isValidUtf8(std::string_view text);

/// Text from a file as it may appear in a message: control characters and bytes that are no UTF-8
/// become '?', and what is longer than `maxBytes` ends in "...".
std::string readable(std::string_view text, std::size_t maxBytes = 120);

} // namespace engine
