// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/quant_groups.h"

#include "engine/loading/quantized_blocks.h"

#include <cstring>

namespace engine {

namespace {

// Layouts: formats.md 4.3.

unsigned byteOf(const std::byte* block, std::size_t index) {
    return std::to_integer<unsigned>(block[index]);
}

float halfOf(const std::byte* block) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, block, sizeof bits);
    return floatFromHalf(bits);
}

void setScale(QuantGroup& group, float scale) { group.scales = {scale, scale}; }

/// The 32 numbers of 16 bytes: low halves first, then high ones.
void readHalves(const std::byte* quants, QuantGroup& group) {
    for (std::size_t j = 0; j < 16; ++j) {
        group.stored[j] = static_cast<std::uint8_t>(byteOf(quants, j) & 15U);
        group.stored[j + 16] = static_cast<std::uint8_t>(byteOf(quants, j) >> 4U);
    }
}

/// Bit 4 of number j is bit j of four bytes.
void addFifthBits(const std::byte* bytes, QuantGroup& group) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes, sizeof bits);
    for (std::size_t j = 0; j < group.stored.size(); ++j)
        group.stored[j] = static_cast<std::uint8_t>(group.stored[j] | ((bits >> j) & 1U) << 4U);
}

/// The types of one group a block: scale, minimum if any, fifth bits if any, halves.
void readSmallBlock(const std::byte* block, bool hasMinimum, bool hasFifthBits, QuantGroup& group) {
    setScale(group, halfOf(block));
    group.minimum = hasMinimum ? halfOf(block + 2) : 0.0F;
    const std::byte* bits = block + (hasMinimum ? 4 : 2);
    readHalves(hasFifthBits ? bits + 4 : bits, group);
    if (hasFifthBits)
        addFifthBits(bits, group);
}

void readQ8Zero(const std::byte* block, QuantGroup& group) {
    setScale(group, halfOf(block));
    group.minimum = 0.0F;
    for (std::size_t j = 0; j < group.stored.size(); ++j)
        group.stored[j] = static_cast<std::uint8_t>(byteOf(block, 2 + j) ^ 128U);
}

struct ScaleAndMinimum {
    float scale = 0;
    float minimum = 0;
};

/// The six-bit pair of group j out of the 12 bytes that hold eight pairs.
ScaleAndMinimum sixBitPair(const std::byte* s, std::size_t j) {
    if (j < 4)
        return {static_cast<float>(byteOf(s, j) & 63U), static_cast<float>(byteOf(s, j + 4) & 63U)};
    const unsigned scale = (byteOf(s, j + 4) & 15U) | ((byteOf(s, j - 4) >> 6U) << 4U);
    const unsigned minimum = (byteOf(s, j + 4) >> 4U) | ((byteOf(s, j) >> 6U) << 4U);
    return {static_cast<float>(scale), static_cast<float>(minimum)};
}

/// Q4_K and Q5_K: eight groups; `high` holds bit 4 of group j as its bit j, or null.
void readSixBitBlock(const std::byte* block,
                     const std::byte* high,
                     const std::byte* quants,
                     QuantGroup* groups) {
    const float scale = halfOf(block);
    const float minimum = halfOf(block + 2);
    for (std::size_t j = 0; j < 8; ++j) {
        const ScaleAndMinimum pair = sixBitPair(block + 4, j);
        setScale(groups[j], scale * pair.scale);
        groups[j].minimum = -(minimum * pair.minimum);
        const std::byte* chunk = quants + (j / 2) * 32;
        for (std::size_t l = 0; l < 32; ++l) {
            unsigned q = j % 2 == 0 ? byteOf(chunk, l) & 15U : byteOf(chunk, l) >> 4U;
            if (high != nullptr)
                q |= ((byteOf(high, l) >> j) & 1U) << 4U;
            groups[j].stored[l] = static_cast<std::uint8_t>(q);
        }
    }
}

/// Each half of 128 values is four groups, each with a scale for every 16 of its values.
void readQ6K(const std::byte* block, QuantGroup* groups) {
    const float d = halfOf(block + 208);
    for (std::size_t j = 0; j < 8; ++j) {
        const std::size_t half = j / 4;
        const std::size_t quarter = j % 4;
        const std::byte* low = block + half * 64 + quarter % 2 * 32;
        const std::byte* high = block + 128 + half * 32;
        const unsigned lowShift = quarter < 2 ? 0 : 4;
        const unsigned highShift = 2 * static_cast<unsigned>(quarter);
        QuantGroup& group = groups[j];
        for (std::size_t l = 0; l < 32; ++l) {
            const unsigned nibble = (byteOf(low, l) >> lowShift) & 15U;
            group.stored[l] =
                static_cast<std::uint8_t>(nibble | (((byteOf(high, l) >> highShift) & 3U) << 4U));
        }
        for (std::size_t i = 0; i < 2; ++i)
            group.scales[i] = d * static_cast<float>(static_cast<std::int8_t>(
                                      byteOf(block, 192 + half * 8 + quarter * 2 + i)));
        group.minimum = 0.0F;
    }
}

} // namespace

bool isQuantised(TensorType type) {
    return type != TensorType::Other && blockLayout(type).values > 1;
}

QuantTraits quantTraits(TensorType type) {
    switch (type) {
    case TensorType::Q8_0:
        return {.bits = 8, .offset = 128};
    case TensorType::Q4_0:
        return {.bits = 4, .offset = 8};
    case TensorType::Q4_1:
        return {.bits = 4, .hasMinima = true};
    case TensorType::Q5_0:
        return {.bits = 5, .offset = 16};
    case TensorType::Q5_1:
        return {.bits = 5, .hasMinima = true};
    case TensorType::Q4_K:
        return {.bits = 4, .hasMinima = true, .fitsHalf = false};
    case TensorType::Q5_K:
        return {.bits = 5, .hasMinima = true, .fitsHalf = false};
    case TensorType::Q6_K:
        return {.bits = 6, .offset = 32, .fitsHalf = false, .scaleValues = 16};
    default:
        break;
    }
    ENGINE_CHECK(false, "{} is not a quantised type", tensorTypeName(type));
    return {};
}

void readQuantBlock(TensorType type, const std::byte* block, QuantGroup* groups) {
    switch (type) {
    case TensorType::Q8_0:
        return readQ8Zero(block, *groups);
    case TensorType::Q4_0:
        return readSmallBlock(block, false, false, *groups);
    case TensorType::Q4_1:
        return readSmallBlock(block, true, false, *groups);
    case TensorType::Q5_0:
        return readSmallBlock(block, false, true, *groups);
    case TensorType::Q5_1:
        return readSmallBlock(block, true, true, *groups);
    case TensorType::Q4_K:
        return readSixBitBlock(block, nullptr, block + 16, groups);
    case TensorType::Q5_K:
        return readSixBitBlock(block, block + 16, block + 48, groups);
    case TensorType::Q6_K:
        return readQ6K(block, groups);
    default:
        ENGINE_CHECK(false, "{} is not a quantised type", tensorTypeName(type));
    }
}

} // namespace engine
