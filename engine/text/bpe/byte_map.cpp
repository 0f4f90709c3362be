// SPDX-License-Identifier: Apache-2.0
#include "engine/text/bpe/byte_map.h"

#include "engine/text/vocabulary/utf8.h"

#include <array>

namespace engine::byte_map {

namespace {

constexpr char32_t kCodePointEnd = 256 + 68;

constexpr bool isPrintable(unsigned byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Tables {
    std::array<std::string, 256> characterOf;
    std::array<std::int16_t, kCodePointEnd> byteOf{};

    Tables() {
        byteOf.fill(-1);
        char32_t next = 256;
        for (unsigned byte = 0; byte < 256; ++byte) {
            const char32_t codePoint = isPrintable(byte) ? char32_t{byte} : next++;
            utf8::append(codePoint, characterOf[byte]);
            byteOf[codePoint] = static_cast<std::int16_t>(byte);
        }
    }
};

const Tables& tables() {
    static const Tables instance; // constant after construction
    return instance;
}

} // namespace

std::string_view character(std::uint8_t byte) { return tables().characterOf[byte]; }

void appendCharacters(std::string_view bytes, std::string& out) {
    const Tables& table = tables();
    for (const char byte : bytes)
        out.append(table.characterOf[static_cast<std::uint8_t>(byte)]);
}

std::optional<std::string> bytesOf(std::string_view text) {
    const Tables& table = tables();
    std::string bytes;
    bytes.reserve(text.size());
    while (!text.empty()) {
        std::size_t length = 0;
        const char32_t codePoint = utf8::firstCodePoint(text, length);
        if (codePoint >= kCodePointEnd || table.byteOf[codePoint] < 0)
            return std::nullopt;
        bytes.push_back(static_cast<char>(table.byteOf[codePoint]));
        text.remove_prefix(length);
    }
    return bytes;
}

} // namespace engine::byte_map
