// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/files/readable_text.h"

namespace engine {

namespace {

unsigned byteAt(std::string_view text, std::size_t index) {
    return static_cast<unsigned char>(text[index]);
}

} // namespace

std::size_t utf8CharacterLength(std::string_view text) {
    if (text.empty())
        return 0;
    const Utf8Lead lead = utf8Lead(byteAt(text, 0));
    if (lead.length > text.size())
        return 0;
    if (lead.length >= 2 && (byteAt(text, 1) < lead.secondMin || byteAt(text, 1) > lead.secondMax))
        return 0;
    for (std::size_t i = 2; i < lead.length; ++i) {
        if ((byteAt(text, i) & 0xC0U) != 0x80U)
            return 0;
    }
    return lead.length;
}

bool isValidUtf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8CharacterLength(text);
        if (length == 0)
            return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string readable(std::string_view text, std::size_t maxBytes) {
    std::string shown;
    while (!text.empty()) {
        const std::size_t length = utf8CharacterLength(text);
        if (shown.size() + (length == 0 ? 1 : length) > maxBytes)
            return shown + "...";
        const bool isControl = length == 1 && (byteAt(text, 0) < 0x20 || byteAt(text, 0) == 0x7F);
        if (length == 0 || isControl)
            shown += '?';
        else
            shown += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return shown;
}

} // namespace engine
