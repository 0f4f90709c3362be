// SPDX-License-Identifier: Apache-2.0
#include "engine/text/vocabulary/utf8.h"

#include <utf8proc.h>

namespace engine::utf8 {

namespace {

std::uint8_t byteAt(std::string_view text, std::size_t index) {
    return static_cast<std::uint8_t>(text[index]);
}

/// Number of bytes a first byte announces; 0 when it cannot start a character. Our own, because
/// utf8proc_utf8class counts C0, C1 and F5 to F7 among the first bytes.
std::size_t announcedLength(std::uint8_t first) {
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return 2;
    if (first >= 0xE0 && first <= 0xEF)
        return 3;
    if (first >= 0xF0 && first <= 0xF4)
        return 4;
    return 0;
}

/// Whether `second` may follow `first`: shuts out overlong forms, surrogates and U+110000 up.
bool isLegalSecond(std::uint8_t first, std::uint8_t second) {
    switch (first) {
    case 0xE0:
        return second >= 0xA0 && second <= 0xBF;
    case 0xED:
        return second >= 0x80 && second <= 0x9F;
    case 0xF0:
        return second >= 0x90 && second <= 0xBF;
    case 0xF4:
        return second >= 0x80 && second <= 0x8F;
    default:
        return second >= 0x80 && second <= 0xBF;
    }
}

} // namespace

Prefix inspect(std::string_view text) {
    const std::uint8_t first = byteAt(text, 0);
    const std::size_t length = announcedLength(first);
    if (length == 0)
        return {Kind::Invalid, 1};
    for (std::size_t i = 1; i < length; ++i) {
        if (i == text.size())
            return {Kind::Incomplete, i};
        const std::uint8_t next = byteAt(text, i);
        const bool isLegal = i == 1 ? isLegalSecond(first, next) : (next & 0xC0U) == 0x80U;
        if (!isLegal)
            return {Kind::Invalid, i};
    }
    return {Kind::Valid, length};
}

std::optional<std::size_t> findInvalid(std::string_view text) {
    std::size_t position = 0;
    while (position < text.size()) {
        const Prefix prefix = inspect(text.substr(position));
        if (prefix.kind != Kind::Valid)
            return position;
        position += prefix.length;
    }
    return std::nullopt;
}

std::size_t lengthByFirstByte(char first) {
    const std::size_t length = announcedLength(static_cast<std::uint8_t>(first));
    return length == 0 ? 1 : length;
}

char32_t firstCodePoint(std::string_view text, std::size_t& length) {
    length = std::min(lengthByFirstByte(text.front()), text.size());
    const std::uint32_t first = byteAt(text, 0);
    if (length == 1)
        return first;
    char32_t codePoint = first & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i)
        codePoint = (codePoint << 6U) | (byteAt(text, i) & 0x3FU);
    return codePoint;
}

char32_t lastCodePoint(std::string_view text, std::size_t& length) {
    std::size_t start = text.size() - 1;
    while (start > 0 && (byteAt(text, start) & 0xC0U) == 0x80U)
        --start;
    return firstCodePoint(text.substr(start), length);
}

// By hand: utf8proc_encode_char takes 4 to 5 ns more a character, and the normalizers write every
// one.
void append(char32_t codePoint, std::string& out) {
    const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (codePoint < 0x80) {
        put(codePoint);
    } else if (codePoint < 0x800) {
        put(0xC0U | (codePoint >> 6U));
        put(0x80U | (codePoint & 0x3FU));
    } else if (codePoint < 0x10000) {
        put(0xE0U | (codePoint >> 12U));
        put(0x80U | ((codePoint >> 6U) & 0x3FU));
        put(0x80U | (codePoint & 0x3FU));
    } else {
        put(0xF0U | (codePoint >> 18U));
        put(0x80U | ((codePoint >> 12U) & 0x3FU));
        put(0x80U | ((codePoint >> 6U) & 0x3FU));
        put(0x80U | (codePoint & 0x3FU));
    }
}

bool isWhiteSpace(char32_t codePoint) {
    return (codePoint >= 0x09 && codePoint <= 0x0D) || codePoint == 0x20 || codePoint == 0x85 ||
           codePoint == 0xA0 || codePoint == 0x1680 ||
           (codePoint >= 0x2000 && codePoint <= 0x200A) || codePoint == 0x2028 ||
           codePoint == 0x2029 || codePoint == 0x202F || codePoint == 0x205F || codePoint == 0x3000;
}

bool isWordCharacter(char32_t codePoint) {
    // Joiners, and the enclosed letters that are symbols by category yet Alphabetic by property.
    if (codePoint == 0x200C || codePoint == 0x200D ||
        (codePoint >= 0x24B6 && codePoint <= 0x24E9) ||
        (codePoint >= 0x1F130 && codePoint <= 0x1F149) ||
        (codePoint >= 0x1F150 && codePoint <= 0x1F169) ||
        (codePoint >= 0x1F170 && codePoint <= 0x1F189))
        return true;
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(codePoint))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
        return true;
    default:
        return false;
    }
}

void LossyDecoder::push(std::string_view bytes, std::string& out) {
    std::string joined;
    if (!m_pending.empty()) {
        joined = std::move(m_pending);
        joined.append(bytes);
        bytes = joined;
    }
    m_pending.clear();
    while (!bytes.empty()) {
        const Prefix prefix = inspect(bytes);
        if (prefix.kind == Kind::Incomplete) {
            m_pending.assign(bytes);
            return;
        }
        out.append(prefix.kind == Kind::Valid ? bytes.substr(0, prefix.length) : kReplacement);
        bytes.remove_prefix(prefix.length);
    }
}

void LossyDecoder::finish(std::string& out) {
    if (!m_pending.empty())
        out.append(kReplacement);
    m_pending.clear();
}

} // namespace engine::utf8
