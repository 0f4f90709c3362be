// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/values/utf8_text.h"

#include <utf8proc.h>

namespace engine::jinja::utf8 {

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

const SpecialCase* findSpecialCase(char32_t codePoint) {
    for (const SpecialCase& special : kSpecialCases)
        if (special.codePoint == codePoint)
            return &special;
    return nullptr;
}

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

void appendUpper(std::string& out, char32_t codePoint) {
    if (const SpecialCase* special = findSpecialCase(codePoint))
        out += special->upper;
    else
        append(out,
               static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(codePoint))));
}

void appendTitle(std::string& out, char32_t codePoint) {
    if (const SpecialCase* special = findSpecialCase(codePoint))
        out += special->title;
    else
        append(out,
               static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(codePoint))));
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
        append(out,
               static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(codePoint))));
}

enum class Mapping { Upper, Lower, Title, Capital, Swap };

/// Where a character stands, as far as its case depends on it.
struct Place {
    bool isFirst = false;
    bool isAfterLetter = false;
};

/// How a character is written, given the mapping asked for.
Mapping mappingOf(Mapping asked, char32_t codePoint, const Place& place) {
    if (asked == Mapping::Capital)
        return place.isFirst ? Mapping::Title : Mapping::Lower;
    if (asked == Mapping::Title && place.isAfterLetter)
        return Mapping::Lower;
    if (asked != Mapping::Swap)
        return asked;
    return isUpper(codePoint) ? Mapping::Lower : Mapping::Upper;
}

char mappedAscii(char letter, Mapping mapping) {
    if (mapping == Mapping::Lower)
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 0x20) : letter;
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 0x20) : letter;
}

std::string mapCase(std::string_view text, Mapping asked) {
    std::string out;
    out.reserve(text.size());
    bool isAfterLetter = false;
    for (std::size_t offset = 0; offset < text.size();) {
        const auto [codePoint, bytes] = characterAt(text, offset);
        const Mapping mapping = mappingOf(asked, codePoint, {offset == 0, isAfterLetter});
        if (codePoint == kInvalid)
            out += text.substr(offset, bytes);
        else if (codePoint < 0x80)
            out += mappedAscii(text[offset], mapping);
        else if (mapping == Mapping::Upper)
            appendUpper(out, codePoint);
        else if (mapping == Mapping::Title)
            appendTitle(out, codePoint);
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

void append(std::string& text, char32_t codePoint) {
    utf8proc_uint8_t bytes[4];
    const auto count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(codePoint), bytes);
    text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
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

bool isLetter(char32_t codePoint) {
    const auto category = categoryOf(codePoint);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool isDecimal(char32_t codePoint) { return categoryOf(codePoint) == UTF8PROC_CATEGORY_ND; }

bool isNumeric(char32_t codePoint) {
    const auto category = categoryOf(codePoint);
    return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool isUpper(char32_t codePoint) {
    if (codePoint < 0x80)
        return codePoint >= 'A' && codePoint <= 'Z';
    return categoryOf(codePoint) == UTF8PROC_CATEGORY_LU;
}

bool isLower(char32_t codePoint) {
    if (codePoint < 0x80)
        return codePoint >= 'a' && codePoint <= 'z';
    return categoryOf(codePoint) == UTF8PROC_CATEGORY_LL;
}

std::string upper(std::string_view text) { return mapCase(text, Mapping::Upper); }

std::string lower(std::string_view text) { return mapCase(text, Mapping::Lower); }

std::string titled(std::string_view text) { return mapCase(text, Mapping::Title); }

std::string swappedCase(std::string_view text) { return mapCase(text, Mapping::Swap); }

std::string capitalized(std::string_view text) { return mapCase(text, Mapping::Capital); }

} // namespace engine::jinja::utf8
