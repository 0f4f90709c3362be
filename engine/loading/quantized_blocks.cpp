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

/// The 32 small integers of 16 bytes as floats: low nibbles first, then high ones. `high`, if there
/// is one, holds bit 4 of value j as its bit j.
template <bool HasHigh> void readNibbles(const std::byte* quants, std::uint32_t high, float* q) {
    for (std::size_t j = 0; j < 16; ++j) {
        unsigned first = byteOf(quants, j) & 15U;
        unsigned second = byteOf(quants, j) >> 4U;
        if constexpr (HasHigh) {
            first |= ((high >> j) & 1U) << 4U;
            second |= ((high >> (j + 16)) & 1U) << 4U;
        }
        q[j] = static_cast<float>(static_cast<int>(first));
        q[j + 16] = static_cast<float>(static_cast<int>(second));
    }
}

std::uint32_t highBitsOf(const std::byte* block) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, block, sizeof bits);
    return bits;
}

void readQ4Zero(const std::byte* block, float* out) {
    const float d = halfOf(block);
    readNibbles<false>(block + 2, 0, out);
    for (std::size_t j = 0; j < 32; ++j)
        out[j] = (out[j] - 8.0F) * d;
}

void readQ4One(const std::byte* block, float* out) {
    const float d = halfOf(block);
    const float m = halfOf(block + 2);
    readNibbles<false>(block + 4, 0, out);
    for (std::size_t j = 0; j < 32; ++j)
        out[j] = out[j] * d + m;
}

void readQ5Zero(const std::byte* block, float* out) {
    const float d = halfOf(block);
    readNibbles<true>(block + 6, highBitsOf(block + 2), out);
    for (std::size_t j = 0; j < 32; ++j)
        out[j] = (out[j] - 16.0F) * d;
}

void readQ5One(const std::byte* block, float* out) {
    const float d = halfOf(block);
    const float m = halfOf(block + 2);
    readNibbles<true>(block + 8, highBitsOf(block + 4), out);
    for (std::size_t j = 0; j < 32; ++j)
        out[j] = out[j] * d + m;
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
    // Each half of 128 values is four runs of 32, each run two sub-blocks of 16 with a scale.
    for (std::size_t run = 0; run < 8; ++run) {
        const std::size_t half = run / 4;
        const std::size_t quarter = run % 4;
        const std::byte* low = block + half * 64 + quarter % 2 * 32;
        const std::byte* high = block + 128 + half * 32;
        const unsigned lowShift = quarter < 2 ? 0 : 4;
        const unsigned highShift = 2 * static_cast<unsigned>(quarter);
        for (std::size_t l = 0; l < 32; ++l) {
            const unsigned nibble = (byteOf(low, l) >> lowShift) & 15U;
            const unsigned q = nibble | (((byteOf(high, l) >> highShift) & 3U) << 4U);
            const float scale = d * signedByteOf(block, 192 + half * 8 + quarter * 2 + l / 16);
            out[run * 32 + l] = scale * (static_cast<float>(static_cast<int>(q)) - 32.0F);
        }
    }
}

/// Many blocks in one call, so that plain types do not pay a call for each value.
template <auto ReadBlock, std::uint32_t Values, std::uint32_t Bytes>
void readBlocks(const std::byte* blocks, std::size_t count, float* out) {
    for (std::size_t i = 0; i < count; ++i)
        ReadBlock(blocks + i * Bytes, out + i * Values);
}

struct TypeRow {
    std::string_view name;
    BlockLayout layout;
    void (*read)(const std::byte* blocks, std::size_t count, float* out);
};

template <auto ReadBlock, std::uint32_t Values, std::uint32_t Bytes>
constexpr TypeRow makeRow(std::string_view name) {
    return {name, {Values, Bytes}, readBlocks<ReadBlock, Values, Bytes>};
}

/// In the order of TensorType.
constexpr std::array<TypeRow, 11> kTypes = {{
    makeRow<readF32, 1, 4>("F32"),
    makeRow<readF16, 1, 2>("F16"),
    makeRow<readBf16, 1, 2>("BF16"),
    makeRow<readQ8Zero, 32, 34>("Q8_0"),
    makeRow<readQ4Zero, 32, 18>("Q4_0"),
    makeRow<readQ4One, 32, 20>("Q4_1"),
    makeRow<readQ5Zero, 32, 22>("Q5_0"),
    makeRow<readQ5One, 32, 24>("Q5_1"),
    makeRow<readQ4K, 256, 144>("Q4_K"),
    makeRow<readQ5K, 256, 176>("Q5_K"),
    makeRow<readQ6K, 256, 210>("Q6_K"),
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
    row.read(blocks.data(), count, out.data());
}

} // namespace engine
