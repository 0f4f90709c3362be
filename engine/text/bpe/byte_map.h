// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The byte-level alphabet: each of the 256 bytes as one printable character. Printable bytes
/// stand for themselves, the other 68 for U+0100 and up. Source: GPT-2's bytes_to_unicode.
namespace engine::byte_map {

/// The character a byte is written as, in UTF-8.
std::string_view character(std::uint8_t byte);

/// Appends the characters of all bytes.
void appendCharacters(std::string_view bytes, std::string& out);

/// The bytes that a vocabulary text stands for, or nothing when a character is not of the
/// alphabet (an added token, for instance).
std::optional<std::string> bytesOf(std::string_view text);

} // namespace engine::byte_map
