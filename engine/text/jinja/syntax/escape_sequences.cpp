// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/syntax/escape_sequences.h"

#include "engine/text/jinja/values/utf8_text.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace engine::jinja {

namespace {

constexpr std::string_view kLetters = "\\'\"abfnrtv";
constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";

/// How many hexadecimal digits follow the letter; 0 for other letters.
std::size_t hexDigits(char letter) {
    return letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
}

std::optional<std::uint32_t> parseCode(std::string_view digits, std::size_t count, int base) {
    std::uint32_t code = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, code, base);
    const bool isWhole = digits.size() == count && error == std::errc() && stop == end;
    return isWhole ? std::optional(code) : std::nullopt;
}

bool isSurrogate(std::uint32_t code) { return code >= 0xD800 && code < 0xE000; }

/// Appends the character of \x, \u or \U; returns where the literal goes on.
Result<std::size_t>
appendHexEscape(std::string& out, std::string_view literal, std::size_t letter) {
    const std::size_t count = hexDigits(literal[letter]);
    const auto code = parseCode(literal.substr(letter + 1, count), count, 16);
    if (!code || *code > 0x10FFFF || isSurrogate(*code))
        return Error{
            ErrorCode::CorruptFile,
            fmt::format("\\{} in a text is followed by no character's number", literal[letter]),
            {}};
    utf8::append(out, *code);
    return letter + 1 + count;
}

std::size_t appendOctalEscape(std::string& out, std::string_view literal, std::size_t start) {
    const std::string_view few = literal.substr(start, 3);
    const std::string_view digits =
        few.substr(0, std::min(few.find_first_not_of("01234567"), few.size()));
    utf8::append(out, parseCode(digits, digits.size(), 8).value_or(0));
    return start + digits.size();
}

} // namespace

Result<std::string> unescaped(std::string_view literal) {
    std::string out;
    std::size_t offset = 0;
    while (offset < literal.size()) {
        const std::size_t slash = std::min(literal.find('\\', offset), literal.size());
        out += literal.substr(offset, slash - offset);
        offset = slash + 2;
        if (slash + 1 >= literal.size())
            break;
        const char letter = literal[slash + 1];
        const std::size_t simple = kLetters.find(letter);
        if (simple != std::string_view::npos) {
            out += kMeanings[simple];
        } else if (hexDigits(letter) > 0) {
            ENGINE_TRY(offset, appendHexEscape(out, literal, slash + 1));
        } else if (letter >= '0' && letter <= '7') {
            offset = appendOctalEscape(out, literal, slash + 1);
        } else if (letter == 'N') {
            return Error{ErrorCode::Unsupported, "\\N{...} in a text is not supported", {}};
        } else if (letter != '\n') {
            out += '\\';
            offset = slash + 1; // the letter is taken with the text behind it
        }
    }
    return out;
}

} // namespace engine::jinja
