// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/values/text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>

namespace engine::jinja {

namespace utf8 {

namespace {

struct SpecialCase {
    char32_t codePoint;
    std::string_view upper;
    std::string_view title;
};

// Letters whose capital is more than one letter (Unicode SpecialCasing.txt, the common ones).
constexpr SpecialCase kSpecialCases[] = {
    {0x00DF, "SS", "Ss"},
    {0x0149, "\u02BCN", "\u02BCN"},
    {0x01F0, "J\u030C", "J\u030C"},
    {0x0587, "\u0535\u0552", "\u0535\u0582"},
    {0xFB00, "FF", "Ff"},
    {0xFB01, "FI", "Fi"},
    {0xFB02, "FL", "Fl"},
    {0xFB03, "FFI", "Ffi"},
    {0xFB04, "FFL", "Ffl"},
    {0xFB05, "ST", "St"},
    {0xFB06, "ST", "St"},
};

utf8proc_category_t categoryOf(char32_t codePoint) {
    return codePoint == kInvalid ? UTF8PROC_CATEGORY_CN
                                 : utf8proc_category(static_cast<utf8proc_int32_t>(codePoint));
}

bool isCased(char32_t codePoint) {
    if (codePoint < 0x80)
        return (codePoint | 0x20U) >= 'a' && (codePoint | 0x20U) <= 'z';
    const auto category = categoryOf(codePoint);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LT;
}

/// The character as a capital, or as it stands at the start of a title.
void appendCapital(std::string& out, char32_t codePoint, bool isTitle) {
    const auto letter = static_cast<utf8proc_int32_t>(codePoint);
    const auto* const special =
        std::ranges::find(kSpecialCases, codePoint, &SpecialCase::codePoint);
    if (special != std::end(kSpecialCases))
        out += isTitle ? special->title : special->upper;
    else
        append(static_cast<char32_t>(isTitle ? utf8proc_totitle(letter) : utf8proc_toupper(letter)),
               out);
}

/// `rest` is the text behind the character: a capital sigma that ends a word has its own form.
void appendLower(std::string& out, char32_t codePoint, bool isAfterLetter, std::string_view rest) {
    const bool endsWord = codePoint == 0x03A3 && isAfterLetter &&
                          (rest.empty() || !isCased(characterAt(rest, 0).codePoint));
    if (endsWord)
        out += "\u03C2";
    else if (codePoint == 0x0130)
        out += "i\u0307";
    else
        append(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(codePoint))),
               out);
}

enum class Mapping { Upper, Lower, Capital, Title };

std::string mapCase(std::string_view text, Mapping mapping) {
    std::string out;
    out.reserve(text.size());
    bool isAfterLetter = false;
    for (std::size_t offset = 0; offset < text.size();) {
        const auto [codePoint, bytes] = characterAt(text, offset);
        const bool isCapital = (mapping == Mapping::Capital && offset == 0) ||
                               (mapping == Mapping::Title && !isAfterLetter);
        if (codePoint == kInvalid)
            out += text.substr(offset, bytes);
        else if (mapping == Mapping::Upper || isCapital)
            appendCapital(out, codePoint, isCapital);
        else
            appendLower(out, codePoint, isAfterLetter, text.substr(offset + bytes));
        isAfterLetter = isCased(codePoint);
        offset += bytes;
    }
    return out;
}

} // namespace

Character characterAt(std::string_view text, std::size_t offset) {
    const auto lead = static_cast<unsigned char>(text[offset]);
    if (lead < 0x80)
        return {lead, 1};
    utf8proc_int32_t codePoint = -1;
    const auto bytes =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + offset),
                         static_cast<utf8proc_ssize_t>(text.size() - offset),
                         &codePoint);
    if (bytes <= 0)
        return {};
    return {static_cast<char32_t>(codePoint), static_cast<std::size_t>(bytes)};
}

std::size_t characterCount(std::string_view text) {
    std::size_t count = 0;
    for (std::size_t offset = 0; offset < text.size(); ++count)
        offset += characterAt(text, offset).bytes;
    return count;
}

std::vector<std::size_t> characterOffsets(std::string_view text) {
    std::vector<std::size_t> offsets;
    offsets.reserve(text.size() + 1);
    for (std::size_t offset = 0; offset < text.size();) {
        offsets.push_back(offset);
        offset += characterAt(text, offset).bytes;
    }
    offsets.push_back(text.size());
    return offsets;
}

bool isSpace(char32_t codePoint) {
    if (codePoint < 0x80)
        return codePoint == ' ' || (codePoint >= 0x09 && codePoint <= 0x0D) ||
               (codePoint >= 0x1C && codePoint <= 0x1F);
    const auto category = categoryOf(codePoint);
    return codePoint == 0x85 || category == UTF8PROC_CATEGORY_ZS ||
           category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

bool isPrintable(char32_t codePoint) {
    if (codePoint == ' ')
        return true;
    const auto category = categoryOf(codePoint);
    return category != UTF8PROC_CATEGORY_CN && category < UTF8PROC_CATEGORY_ZS;
}

std::string upper(std::string_view text) { return mapCase(text, Mapping::Upper); }

std::string lower(std::string_view text) { return mapCase(text, Mapping::Lower); }

std::string capitalized(std::string_view text) { return mapCase(text, Mapping::Capital); }

std::string titled(std::string_view text) { return mapCase(text, Mapping::Title); }

} // namespace utf8

namespace {

/// Offset of the character that ends at `end`.
std::size_t startOfCharacterBefore(std::string_view text, std::size_t end) {
    for (std::size_t bytes = 1; bytes <= std::min<std::size_t>(4, end); ++bytes) {
        const std::size_t start = end - bytes;
        const bool isContinuation = (static_cast<unsigned char>(text[start]) & 0xC0U) == 0x80U;
        if (!isContinuation)
            return utf8::characterAt(text, start).bytes == bytes ? start : end - 1;
    }
    return end - 1;
}

std::vector<std::string_view>
splitAtSeparator(std::string_view text, std::string_view separator, std::size_t limit) {
    std::vector<std::string_view> parts;
    std::size_t start = 0;
    while (parts.size() < limit) {
        const std::size_t found = findText(text, separator, start);
        if (found == std::string_view::npos)
            break;
        parts.push_back(text.substr(start, found - start));
        start = found + separator.size();
    }
    parts.push_back(text.substr(start));
    return parts;
}

std::string backwards(std::string_view text) { return std::string(text.rbegin(), text.rend()); }

/// Reads both backwards: where a separator overlaps itself, the one further right counts.
std::vector<std::string_view>
splitAtSeparatorFromRight(std::string_view text, std::string_view separator, std::size_t limit) {
    const std::string reversed = backwards(text);
    auto parts = splitAtSeparator(reversed, backwards(separator), limit);
    for (std::string_view& part : parts) {
        const auto before = static_cast<std::size_t>(part.data() - reversed.data());
        part = text.substr(text.size() - before - part.size(), part.size());
    }
    std::reverse(parts.begin(), parts.end());
    return parts;
}

std::size_t endOfWord(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size()) {
        const auto [codePoint, bytes] = utf8::characterAt(text, end);
        if (utf8::isSpace(codePoint))
            break;
        end += bytes;
    }
    return end;
}

std::vector<std::string_view>
splitAtWhitespace(std::string_view text, std::size_t limit, Side from) {
    std::vector<std::string_view> words;
    std::string_view rest = stripped(text, std::nullopt, Side::Left);
    while (!rest.empty() && (words.size() < limit || from == Side::Right)) {
        const std::size_t end = endOfWord(rest);
        words.push_back(rest.substr(0, end));
        rest = stripped(rest.substr(end), std::nullopt, Side::Left);
    }
    if (!rest.empty())
        words.push_back(rest);
    if (from == Side::Right && words.size() > limit) { // all before the last ones are one
        const auto last = words.end() - 1 - static_cast<std::ptrdiff_t>(limit);
        const char* const end = last->data() + last->size();
        *last = text.substr(0, static_cast<std::size_t>(end - text.data()));
        words.erase(words.begin(), last);
    }
    return words;
}

bool isLineEnd(char32_t codePoint) {
    return (codePoint >= 0x0A && codePoint <= 0x0D) || (codePoint >= 0x1C && codePoint <= 0x1E) ||
           codePoint == 0x85 || codePoint == 0x2028 || codePoint == 0x2029;
}

} // namespace

std::size_t findText(std::string_view text, std::string_view wanted, std::size_t start) {
    if (start > text.size())
        return std::string_view::npos;
    // The C library's search is linear for all bytes, where std::string::find is quadratic for
    // hostile ones.
    const void* found =
        memmem(text.data() + start, text.size() - start, wanted.data(), wanted.size());
    return found == nullptr
               ? std::string_view::npos
               : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

std::string_view
stripped(std::string_view text, std::optional<std::string_view> characters, Side side) {
    std::vector<char32_t> set;
    for (std::size_t offset = 0; characters && offset < characters->size();) {
        const auto [codePoint, bytes] = utf8::characterAt(*characters, offset);
        set.push_back(codePoint);
        offset += bytes;
    }
    std::sort(set.begin(), set.end());
    const auto goes = [&](std::size_t offset) {
        const char32_t codePoint = utf8::characterAt(text, offset).codePoint;
        return characters ? std::binary_search(set.begin(), set.end(), codePoint)
                          : utf8::isSpace(codePoint);
    };
    std::size_t start = 0;
    while (side != Side::Right && start < text.size() && goes(start))
        start += utf8::characterAt(text, start).bytes;
    std::size_t end = text.size();
    while (side != Side::Left && end > start && goes(startOfCharacterBefore(text, end)))
        end = startOfCharacterBefore(text, end);
    return text.substr(start, end - start);
}

std::vector<std::string_view> splitText(std::string_view text,
                                        std::optional<std::string_view> separator,
                                        std::int64_t limit,
                                        Side from) {
    const std::size_t most = limit < 0 ? SIZE_MAX : static_cast<std::size_t>(limit);
    if (!separator)
        return splitAtWhitespace(text, most, from);
    return from == Side::Right ? splitAtSeparatorFromRight(text, *separator, most)
                               : splitAtSeparator(text, *separator, most);
}

std::vector<std::string_view> splitLines(std::string_view text) {
    std::vector<std::string_view> lines;
    std::size_t start = 0;
    for (std::size_t offset = 0; offset < text.size();) {
        const auto [codePoint, bytes] = utf8::characterAt(text, offset);
        const std::size_t lineEnd = offset;
        offset += bytes;
        if (!isLineEnd(codePoint))
            continue;
        if (codePoint == '\r' && offset < text.size() && text[offset] == '\n')
            ++offset;
        lines.push_back(text.substr(start, lineEnd - start));
        start = offset;
    }
    if (start < text.size())
        lines.push_back(text.substr(start));
    return lines;
}

} // namespace engine::jinja
