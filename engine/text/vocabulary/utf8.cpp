// SPDX-License-Identifier: Apache-2.0
#include "engine/text/vocabulary/utf8.h"

#include "engine/loading/files/readable_text.h"

#include <utf8proc.h>

namespace engine::utf8 {

namespace {

std::uint8_t byteAt(std::string_view text, std::size_t index) {
    return static_cast<std::uint8_t>(text[index]);
}

} // namespace

Prefix inspect(std::string_view text) {
    const Utf8Lead lead = utf8Lead(byteAt(text, 0));
    if (lead.length == 0)
        return {Kind::Invalid, 1};
    for (std::size_t i = 1; i < lead.length; ++i) {
        if (i == text.size())
            return {Kind::Incomplete, i};
        const unsigned next = byteAt(text, i);
        const bool isLegal =
            i == 1 ? next >= lead.secondMin && next <= lead.secondMax : (next & 0xC0U) == 0x80U;
        if (!isLegal)
            return {Kind::Invalid, i};
    }
    return {Kind::Valid, lead.length};
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

// Not by utf8proc_utf8class, which counts C0, C1 and F5 to F7 among the first bytes.
std::size_t lengthByFirstByte(char first) {
    const std::size_t length = utf8Lead(static_cast<std::uint8_t>(first)).length;
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
