// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/gguf/quantized_blocks.h"

#include "engine/loading/gguf/quant_groups.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace engine {

namespace {

std::uint16_t wordOf(const std::byte* block) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, block, sizeof bits);
    return bits;
}

void readF32(const std::byte* block, float* out) { std::memcpy(out, block, sizeof *out); }

void readF16(const std::byte* block, float* out) { *out = floatFromHalf(wordOf(block)); }

void readBf16(const std::byte* block, float* out) { *out = floatFromBfloat16(wordOf(block)); }

template <TensorType Type, std::uint32_t Values>
void readQuants(const std::byte* block, float* out) {
    std::array<QuantGroup, Values / kQuantGroupValues> groups;
    readQuantBlock(Type, block, groups.data());
    const QuantTraits traits = quantTraits(Type);
    for (const QuantGroup& group : groups)
        for (std::size_t i = 0; i < group.stored.size(); ++i) {
            const std::size_t half = i / (kQuantGroupValues / 2);
            const float value =
                static_cast<float>(group.stored[i] - traits.offset) * group.scales[half];
            *out++ = traits.hasMinima ? value + group.minima[half] : value;
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
constexpr std::array<TypeRow, 16> kTypes = {{
    makeRow<readF32, 1, 4>("F32"),
    makeRow<readF16, 1, 2>("F16"),
    makeRow<readBf16, 1, 2>("BF16"),
    makeRow<readQuants<TensorType::Q8_0, 32>, 32, 34>("Q8_0"),
    makeRow<readQuants<TensorType::Q4_0, 32>, 32, 18>("Q4_0"),
    makeRow<readQuants<TensorType::Q4_1, 32>, 32, 20>("Q4_1"),
    makeRow<readQuants<TensorType::Q5_0, 32>, 32, 22>("Q5_0"),
    makeRow<readQuants<TensorType::Q5_1, 32>, 32, 24>("Q5_1"),
    makeRow<readQuants<TensorType::Q2_K, 256>, 256, 84>("Q2_K"),
    makeRow<readQuants<TensorType::Q3_K, 256>, 256, 110>("Q3_K"),
    makeRow<readQuants<TensorType::Q4_K, 256>, 256, 144>("Q4_K"),
    makeRow<readQuants<TensorType::Q5_K, 256>, 256, 176>("Q5_K"),
    makeRow<readQuants<TensorType::Q6_K, 256>, 256, 210>("Q6_K"),
    makeRow<readQuants<TensorType::IQ4_NL, 32>, 32, 18>("IQ4_NL"),
    makeRow<readQuants<TensorType::IQ4_XS, 256>, 256, 136>("IQ4_XS"),
    makeRow<readQuants<TensorType::MXFP4, 32>, 32, 17>("MXFP4"),
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

std::uint16_t halfFromFloat(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
    const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U)
        return static_cast<std::uint16_t>(sign | 0x7E00U); // not a number
    if (magnitude >= 0x477FF000U)
        return static_cast<std::uint16_t>(sign | 0x7C00U); // rounds beyond the largest
    if (magnitude < 0x38800000U) {
        // Subnormal: the sum's last place is 2^-24, so the addition rounds.
        const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
        return static_cast<std::uint16_t>(
            sign | (std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5F)));
    }
    const std::uint32_t rounded = magnitude + 0xFFFU + ((magnitude >> 13U) & 1U);
    return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13U));
}

std::uint16_t bfloat16FromFloat(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U)
        return static_cast<std::uint16_t>(bits >> 16U | 0x40U); // stays not a number
    return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
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

namespace {

constexpr std::size_t kRounded = 32;

/// 32 numbers as steps above a least one.
struct FourBitFit {
    std::uint16_t scale = 0; // halves
    std::uint16_t least = 0;
    std::array<float, kRounded> steps = {}; // whole ones, 0 to 15
    float error = 0.0F;                     // sum of squares; infinite: no halves
};

using Rounded = std::array<float, kRounded>;

/// By halves, which the compiler can do with several numbers at once.
float sumOf(Rounded numbers) {
    for (std::size_t i = 0; i < 16; ++i)
        numbers[i] += numbers[i + 16];
    for (std::size_t i = 0; i < 8; ++i)
        numbers[i] += numbers[i + 8];
    for (std::size_t i = 0; i < 4; ++i)
        numbers[i] += numbers[i + 4];
    return (numbers[0] + numbers[2]) + (numbers[1] + numbers[3]);
}

FourBitFit fitFourBits(const float* values, float wantedScale, float wantedLeast) {
    FourBitFit fit{halfFromFloat(wantedScale), halfFromFloat(wantedLeast)};
    const float scale = floatFromHalf(fit.scale);
    const float least = floatFromHalf(fit.least);
    if (!std::isfinite(scale) || !std::isfinite(least)) {
        fit.error = std::numeric_limits<float>::infinity();
        return fit;
    }
    const float inverse = scale > 0.0F ? 1.0F / scale : 0.0F;
    Rounded errors;
    for (std::size_t i = 0; i < kRounded; ++i) {
        const float wanted = (values[i] - least) * inverse;
        const float atLeast = wanted > 0.0F ? wanted : 0.0F;
        const float inside = atLeast < 15.0F ? atLeast : 15.0F;
        const auto step = static_cast<float>(static_cast<int>(inside + 0.5F));
        const float off = values[i] - (least + scale * step);
        fit.steps[i] = step;
        errors[i] = off * off;
    }
    fit.error = sumOf(errors);
    return fit;
}

/// The same with the line through these steps that comes nearest to the values.
FourBitFit refitFourBits(const float* values, const FourBitFit& fit) {
    Rounded numbers;
    std::copy_n(values, kRounded, numbers.begin());
    const float stepMean = sumOf(fit.steps) / kRounded;
    const float mean = sumOf(numbers) / kRounded;
    Rounded both;
    Rounded squares;
    for (std::size_t i = 0; i < kRounded; ++i) {
        const float step = fit.steps[i] - stepMean;
        both[i] = step * (values[i] - mean);
        squares[i] = step * step;
    }
    const float square = sumOf(squares);
    const float scale = square > 0.0F ? sumOf(both) / square : 0.0F;
    return fitFourBits(values, scale, mean - scale * stepMean);
}

struct Range {
    float least;
    float most;
};

Range rangeOf(const float* values) {
    std::array<float, 8> least;
    std::array<float, 8> most;
    std::copy_n(values, least.size(), least.begin());
    std::copy_n(values, most.size(), most.begin());
    for (const float* at = values + 8; at < values + kRounded; at += 8)
        for (std::size_t i = 0; i < 8; ++i) {
            least[i] = at[i] < least[i] ? at[i] : least[i];
            most[i] = at[i] > most[i] ? at[i] : most[i];
        }
    return {*std::min_element(least.begin(), least.end()),
            *std::max_element(most.begin(), most.end())};
}

} // namespace

bool roundToQ4_1(const float* values, std::byte* block) {
    const auto [low, high] = rangeOf(values);
    FourBitFit best = fitFourBits(values, (high - low) / 15.0F, low);
    if (std::isinf(best.error))
        return false;
    if (best.error > 0.0F)
        if (const FourBitFit next = refitFourBits(values, best); next.error < best.error)
            best = next;
    std::memcpy(block, &best.scale, 2);
    std::memcpy(block + 2, &best.least, 2);
    std::array<std::uint8_t, kRounded> steps;
    for (std::size_t i = 0; i < kRounded; ++i)
        steps[i] = static_cast<std::uint8_t>(static_cast<int>(best.steps[i]));
    for (std::size_t i = 0; i < kRounded / 2; ++i)
        block[4 + i] = static_cast<std::byte>(steps[i] | steps[i + kRounded / 2] << 4U);
    return true;
}

} // namespace engine
