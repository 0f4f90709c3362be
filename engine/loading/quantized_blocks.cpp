// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/quantized_blocks.h"

#include <array>
#include <bit>
#include <cstring>

namespace engine {

namespace {

// Layouts: formats.md 4.3. Names inside a block follow the formulas there: d and m are scale and
// minimum, q a stored small integer.

unsigned byteOf(const std::byte* block, std::size_t index) {
    return std::to_integer<unsigned>(block[index]);
}

std::uint16_t wordOf(const std::byte* block) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, block, sizeof bits);
    return bits;
}

float halfOf(const std::byte* block) { return floatFromHalf(wordOf(block)); }

float signedByteOf(const std::byte* block, std::size_t index) {
    return static_cast<float>(static_cast<std::int8_t>(byteOf(block, index)));
}

void readF32(const std::byte* block, float* out) { std::memcpy(out, block, sizeof *out); }

void readF16(const std::byte* block, float* out) { *out = halfOf(block); }

void readBf16(const std::byte* block, float* out) { *out = floatFromBfloat16(wordOf(block)); }

void readQ8Zero(const std::byte* block, float* out) {
    const float d = halfOf(block);
    for (std::size_t j = 0; j < 32; ++j)
        out[j] = signedByteOf(block, 2 + j) * d;
}

/// Value j: low nibble of byte j; value j + 16: its high nibble.
unsigned nibbleOf(const std::byte* quants, std::size_t j) {
    return j < 16 ? byteOf(quants, j) & 15U : byteOf(quants, j - 16) >> 4U;
}

/// As nibbleOf, with bit j of the four bytes `high` as bit 4.
unsigned fiveBitsOf(const std::byte* high, const std::byte* quants, std::size_t j) {
    const unsigned top = (byteOf(high, j / 8) >> (j % 8)) & 1U;
    return nibbleOf(quants, j) | (top << 4U);
}

void readQ4Zero(const std::byte* block, float* out) {
    const float d = halfOf(block);
    for (std::size_t j = 0; j < 32; ++j)
        out[j] = (static_cast<float>(nibbleOf(block + 2, j)) - 8.0F) * d;
}

void readQ4One(const std::byte* block, float* out) {
    const float d = halfOf(block);
    const float m = halfOf(block + 2);
    for (std::size_t j = 0; j < 32; ++j)
        out[j] = static_cast<float>(nibbleOf(block + 4, j)) * d + m;
}

void readQ5Zero(const std::byte* block, float* out) {
    const float d = halfOf(block);
    for (std::size_t j = 0; j < 32; ++j)
        out[j] = (static_cast<float>(fiveBitsOf(block + 2, block + 6, j)) - 16.0F) * d;
}

void readQ5One(const std::byte* block, float* out) {
    const float d = halfOf(block);
    const float m = halfOf(block + 2);
    for (std::size_t j = 0; j < 32; ++j)
        out[j] = static_cast<float>(fiveBitsOf(block + 4, block + 8, j)) * d + m;
}

struct ScaleAndMinimum {
    float scale = 0;
    float minimum = 0;
};

/// The six-bit pair of sub-block j out of the 12 bytes that hold eight pairs.
ScaleAndMinimum sixBitPair(const std::byte* s, std::size_t j) {
    if (j < 4)
        return {static_cast<float>(byteOf(s, j) & 63U), static_cast<float>(byteOf(s, j + 4) & 63U)};
    const unsigned scale = (byteOf(s, j + 4) & 15U) | ((byteOf(s, j - 4) >> 6U) << 4U);
    const unsigned minimum = (byteOf(s, j + 4) >> 4U) | ((byteOf(s, j) >> 6U) << 4U);
    return {static_cast<float>(scale), static_cast<float>(minimum)};
}

/// Q4_K and Q5_K: eight sub-blocks of 32; `high` holds bit 4 of sub-block j as its bit j, or null.
void readSubBlocks(const std::byte* block,
                   const std::byte* high,
                   const std::byte* quants,
                   float* out) {
    const float d = halfOf(block);
    const float dmin = halfOf(block + 2);
    for (std::size_t j = 0; j < 8; ++j) {
        const ScaleAndMinimum pair = sixBitPair(block + 4, j);
        const float scale = d * pair.scale;
        const float minimum = dmin * pair.minimum;
        const std::byte* chunk = quants + (j / 2) * 32;
        for (std::size_t l = 0; l < 32; ++l) {
            unsigned q = j % 2 == 0 ? byteOf(chunk, l) & 15U : byteOf(chunk, l) >> 4U;
            if (high)
                q |= ((byteOf(high, l) >> j) & 1U) << 4U;
            out[j * 32 + l] = scale * static_cast<float>(q) - minimum;
        }
    }
}

void readQ4K(const std::byte* block, float* out) { readSubBlocks(block, nullptr, block + 16, out); }

void readQ5K(const std::byte* block, float* out) {
    readSubBlocks(block, block + 16, block + 48, out);
}

void readQ6K(const std::byte* block, float* out) {
    const float d = halfOf(block + 208);
    for (std::size_t position = 0; position < 256; ++position) {
        const std::size_t half = position / 128;
        const std::size_t quarter = position % 128 / 32;
        const std::size_t l = position % 32;
        const unsigned low = byteOf(block, half * 64 + quarter % 2 * 32 + l);
        const unsigned nibble = quarter < 2 ? low & 15U : low >> 4U;
        const unsigned top = (byteOf(block, 128 + half * 32 + l) >> (2 * quarter)) & 3U;
        const float scale = d * signedByteOf(block, 192 + half * 8 + quarter * 2 + l / 16);
        out[position] = scale * (static_cast<float>(nibble | (top << 4U)) - 32.0F);
    }
}

struct TypeRow {
    std::string_view name;
    BlockLayout layout;
    void (*readBlock)(const std::byte* block, float* out);
};

/// In the order of TensorType.
constexpr std::array<TypeRow, 11> kTypes = {{
    {"F32", {1, 4}, readF32},
    {"F16", {1, 2}, readF16},
    {"BF16", {1, 2}, readBf16},
    {"Q8_0", {32, 34}, readQ8Zero},
    {"Q4_0", {32, 18}, readQ4Zero},
    {"Q4_1", {32, 20}, readQ4One},
    {"Q5_0", {32, 22}, readQ5Zero},
    {"Q5_1", {32, 24}, readQ5One},
    {"Q4_K", {256, 144}, readQ4K},
    {"Q5_K", {256, 176}, readQ5K},
    {"Q6_K", {256, 210}, readQ6K},
}};

const TypeRow& typeRow(TensorType type) {
    ENGINE_CHECK(type != TensorType::Other, "only types that can be computed with have blocks");
    return kTypes[static_cast<std::size_t>(type)];
}

} // namespace

std::string_view tensorTypeName(TensorType type) {
    return type == TensorType::Other ? "other" : typeRow(type).name;
}

BlockLayout blockLayout(TensorType type) { return typeRow(type).layout; }

float floatFromHalf(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
    const std::uint32_t exponent = (bits >> 10U) & 31U;
    const std::uint32_t fraction = bits & 0x3FFU;
    if (exponent == 0) {
        // Zero or subnormal: fraction * 2^-24, exact in float32.
        const float magnitude = static_cast<float>(fraction) * 0x1.0p-24F;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
    const std::uint32_t wideExponent = exponent == 31 ? 255U : exponent + 112U;
    return std::bit_cast<float>(sign | (wideExponent << 23U) | (fraction << 13U));
}

float floatFromBfloat16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

void dequantize(TensorType type, std::span<const std::byte> blocks, std::span<float> out) {
    const TypeRow& row = typeRow(type);
    const std::size_t count = out.size() / row.layout.values;
    ENGINE_CHECK(count * row.layout.values == out.size() &&
                     count * row.layout.bytes == blocks.size(),
                 "{} values of type {} do not take {} bytes",
                 out.size(),
                 row.name,
                 blocks.size());
    if (type == TensorType::F32) {
        if (!out.empty())
            std::memcpy(out.data(), blocks.data(), blocks.size());
        return;
    }
    for (std::size_t i = 0; i < count; ++i)
        row.readBlock(blocks.data() + i * row.layout.bytes, out.data() + i * row.layout.values);
}

} // namespace engine
