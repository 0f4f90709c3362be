// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/gguf/quant_groups.h"

#include "engine/loading/gguf/quantized_blocks.h"

#include <cmath>
#include <cstring>

namespace engine {

namespace {

// Each reader follows the layout of one block as GGUF stores it (ggml-common.h of llama.cpp).

unsigned byteOf(const std::byte* block, std::size_t index) {
    return std::to_integer<unsigned>(block[index]);
}

float halfOf(const std::byte* block) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, block, sizeof bits);
    return floatFromHalf(bits);
}

void setScale(QuantGroup& group, float scale) { group.scales = {scale, scale}; }

void setMinimum(QuantGroup& group, float minimum) { group.minima = {minimum, minimum}; }

void setScales(QuantGroup& group, const NestedScales& scales) {
    group.nestedScales = scales;
    group.scales = scales.products();
}

void setMinima(QuantGroup& group, const NestedScales& minima) {
    group.nestedMinima = minima;
    group.minima = minima.products();
}

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
    setMinimum(group, hasMinimum ? halfOf(block + 2) : 0.0F);
    const std::byte* bits = block + (hasMinimum ? 4 : 2);
    readHalves(hasFifthBits ? bits + 4 : bits, group);
    if (hasFifthBits)
        addFifthBits(bits, group);
}

void readQ8Zero(const std::byte* block, QuantGroup& group) {
    setScale(group, halfOf(block));
    setMinimum(group, 0.0F);
    for (std::size_t j = 0; j < group.stored.size(); ++j)
        group.stored[j] = static_cast<std::uint8_t>(byteOf(block, 2 + j) ^ 128U);
}

struct ScaleAndMinimum {
    std::int8_t scale = 0;
    std::int8_t minimum = 0;
};

/// The six-bit pair of group j out of the 12 bytes that hold eight pairs.
ScaleAndMinimum sixBitPair(const std::byte* s, std::size_t j) {
    if (j < 4)
        return {static_cast<std::int8_t>(byteOf(s, j) & 63U),
                static_cast<std::int8_t>(byteOf(s, j + 4) & 63U)};
    const unsigned scale = (byteOf(s, j + 4) & 15U) | ((byteOf(s, j - 4) >> 6U) << 4U);
    const unsigned minimum = (byteOf(s, j + 4) >> 4U) | ((byteOf(s, j) >> 6U) << 4U);
    return {static_cast<std::int8_t>(scale), static_cast<std::int8_t>(minimum)};
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
        setScales(groups[j], {scale, {pair.scale, pair.scale}});
        setMinima(groups[j], {-minimum, {pair.minimum, pair.minimum}});
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
        const std::size_t at = 192 + half * 8 + quarter * 2;
        setScales(group,
                  {d,
                   {static_cast<std::int8_t>(byteOf(block, at)),
                    static_cast<std::int8_t>(byteOf(block, at + 1))}});
        setMinimum(group, 0.0F);
    }
}

/// Two bits of number l of group j: halves of 128 values lie in 32 bytes, four groups deep.
unsigned twoBits(const std::byte* quants, std::size_t j, std::size_t l) {
    return (byteOf(quants, j / 4 * 32 + l) >> (2 * (j % 4))) & 3U;
}

/// Eight groups; every 16 values have a scale and a minimum of four bits.
void readQ2K(const std::byte* block, QuantGroup* groups) {
    const float scale = halfOf(block + 80);
    const float minimum = halfOf(block + 82);
    for (std::size_t j = 0; j < 8; ++j) {
        for (std::size_t i = 0; i < 2; ++i) {
            const unsigned pair = byteOf(block, 2 * j + i);
            groups[j].scales[i] = scale * static_cast<float>(pair & 15U);
            groups[j].minima[i] = -(minimum * static_cast<float>(pair >> 4U));
        }
        for (std::size_t l = 0; l < 32; ++l)
            groups[j].stored[l] = static_cast<std::uint8_t>(twoBits(block + 16, j, l));
    }
}

/// As Q2_K without minima; a third bit lies apart, and scales have six bits: four of them in eight
/// bytes, two in the four behind.
void readQ3K(const std::byte* block, QuantGroup* groups) {
    const std::byte* high = block;
    const std::byte* scales = block + 96;
    const float d = halfOf(block + 108);
    for (std::size_t j = 0; j < 8; ++j) {
        NestedScales nested{d, {}};
        for (std::size_t i = 0; i < 2; ++i) {
            const std::size_t k = 2 * j + i;
            const unsigned low = (byteOf(scales, k % 8) >> (k < 8 ? 0U : 4U)) & 15U;
            const unsigned upper = (byteOf(scales, 8 + k % 4) >> (2 * (k / 4))) & 3U;
            nested.factors[i] = static_cast<std::int8_t>(static_cast<int>(low | upper << 4U) - 32);
        }
        setScales(groups[j], nested);
        for (std::size_t l = 0; l < 32; ++l)
            groups[j].stored[l] = static_cast<std::uint8_t>(twoBits(block + 32, j, l) |
                                                            ((byteOf(high, l) >> j) & 1U) << 2U);
        setMinimum(groups[j], 0.0F);
    }
}

constexpr FourBitValues kNonlinear = {
    1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241};
constexpr FourBitValues kMicroscaled = {
    128, 129, 130, 131, 132, 134, 136, 140, 128, 127, 126, 125, 124, 122, 120, 116};

void readLookedUp(const std::byte* quants, const FourBitValues& values, QuantGroup& group) {
    readHalves(quants, group);
    for (std::uint8_t& stored : group.stored)
        stored = values[stored];
    setMinimum(group, 0.0F);
}

void readIq4Nl(const std::byte* block, QuantGroup& group) {
    setScale(group, halfOf(block));
    readLookedUp(block + 2, kNonlinear, group);
}

/// Eight groups, each with a scale of six bits: four in its half byte, two in a word for all.
void readIq4Xs(const std::byte* block, QuantGroup* groups) {
    const float d = halfOf(block);
    const unsigned high = byteOf(block, 2) | byteOf(block, 3) << 8U;
    for (std::size_t j = 0; j < 8; ++j) {
        const unsigned low = (byteOf(block, 4 + j / 2) >> (j % 2 == 0 ? 0U : 4U)) & 15U;
        const unsigned bits = low | ((high >> (2 * j)) & 3U) << 4U;
        const auto factor = static_cast<std::int8_t>(static_cast<int>(bits) - 32);
        setScales(groups[j], {d, {factor, factor}});
        readLookedUp(block + 8 + j * 16, kNonlinear, groups[j]);
    }
}

/// The scale is a power of two; the table holds the values twice as large.
void readMxfp4(const std::byte* block, QuantGroup& group) {
    setScale(group, std::ldexp(1.0F, static_cast<int>(byteOf(block, 0)) - 128));
    readLookedUp(block + 1, kMicroscaled, group);
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
    case TensorType::Q2_K:
        return {.bits = 2, .hasMinima = true, .fitsHalf = false, .scaleValues = 16};
    case TensorType::Q3_K:
        return {.bits = 3, .offset = 4, .fitsHalf = false, .isNested = true, .scaleValues = 16};
    case TensorType::IQ4_NL:
        return {.bits = 8, .offset = 128, .table = &kNonlinear};
    case TensorType::IQ4_XS:
        return {
            .bits = 8, .offset = 128, .fitsHalf = false, .isNested = true, .table = &kNonlinear};
    case TensorType::MXFP4:
        return {.bits = 8, .offset = 128, .fitsHalf = false, .table = &kMicroscaled};
    case TensorType::Q4_K:
        return {.bits = 4, .hasMinima = true, .fitsHalf = false, .isNested = true};
    case TensorType::Q5_K:
        return {.bits = 5, .hasMinima = true, .fitsHalf = false, .isNested = true};
    case TensorType::Q6_K:
        return {.bits = 6, .offset = 32, .fitsHalf = false, .isNested = true, .scaleValues = 16};
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
    case TensorType::Q2_K:
        return readQ2K(block, groups);
    case TensorType::Q3_K:
        return readQ3K(block, groups);
    case TensorType::IQ4_NL:
        return readIq4Nl(block, *groups);
    case TensorType::IQ4_XS:
        return readIq4Xs(block, groups);
    case TensorType::MXFP4:
        return readMxfp4(block, *groups);
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
