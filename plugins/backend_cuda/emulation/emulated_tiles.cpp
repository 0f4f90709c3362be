// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/emulation/emulated_tiles.h"

#include <cstdint>
#include <cstring>

namespace backend_cuda::emulation {

namespace {

float fromBf16(unsigned bits) {
    bits <<= 16U;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

} // namespace

unsigned toBf16(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if (value != value)
        return 0x7fffU;
    return (bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U;
}

unsigned toHalf(float value) {
    const auto half = static_cast<_Float16>(value);
    std::uint16_t bits;
    std::memcpy(&bits, &half, sizeof bits);
    return bits;
}

float fromHalf(unsigned bits) {
    const auto own = static_cast<std::uint16_t>(bits);
    _Float16 half;
    std::memcpy(&half, &own, sizeof half);
    return static_cast<float>(half);
}

void multiplyTiles(const void* const (&operands)[32], void* const (&results)[32], bool isBf16) {
    float a[16][16];
    float b[16][8];
    const auto number = [isBf16](std::uint32_t pair, int place) {
        const unsigned bits = pair >> (16 * place) & 0xffffU;
        return isBf16 ? fromBf16(bits) : fromHalf(bits);
    };
    for (int lane = 0; lane < 32; ++lane) {
        std::uint32_t words[6];
        std::memcpy(words, operands[lane], sizeof words);
        const int g = lane / 4;
        const int t = lane % 4;
        for (int word = 0; word < 4; ++word)
            for (int place = 0; place < 2; ++place)
                a[g + word % 2 * 8][2 * t + place + word / 2 * 8] = number(words[word], place);
        for (int word = 0; word < 2; ++word)
            for (int place = 0; place < 2; ++place)
                b[2 * t + place + word * 8][g] = number(words[4 + word], place);
    }
    float c[16][8] = {};
    for (int i = 0; i < 16; ++i)
        for (int k = 0; k < 16; ++k)
            for (int j = 0; j < 8; ++j)
                c[i][j] += a[i][k] * b[k][j];
    for (int lane = 0; lane < 32; ++lane) {
        auto* result = static_cast<float*>(results[lane]);
        const int g = lane / 4;
        const int t = lane % 4;
        result[0] += c[g][2 * t];
        result[1] += c[g][2 * t + 1];
        result[2] += c[g + 8][2 * t];
        result[3] += c[g + 8][2 * t + 1];
    }
}

void multiplyInt8Tiles(const void* const (&operands)[32], void* const (&results)[32], int halves) {
    std::int8_t a[16][32] = {};
    std::int8_t b[8][32] = {};
    for (int lane = 0; lane < 32; ++lane) {
        const auto* bytes = static_cast<const std::int8_t*>(operands[lane]);
        const int g = lane / 4;
        const int t = lane % 4;
        for (int half = 0; half < halves; ++half)
            for (int i = 0; i < 4; ++i) {
                const int column = half * 16 + t * 4 + i;
                a[g][column] = bytes[half * 8 + i];
                a[g + 8][column] = bytes[half * 8 + 4 + i];
                b[g][column] = bytes[(halves * 2 + half) * 4 + i];
            }
    }
    for (int lane = 0; lane < 32; ++lane) {
        auto* result = static_cast<int*>(results[lane]);
        for (int i = 0; i < 4; ++i) {
            const auto& output = a[lane / 4 + i / 2 * 8];
            const auto& row = b[lane % 4 * 2 + i % 2];
            for (int k = 0; k < halves * 16; ++k)
                result[i] += output[k] * row[k];
        }
    }
}

} // namespace backend_cuda::emulation
