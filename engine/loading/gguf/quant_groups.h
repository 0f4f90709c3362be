// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/weight_source.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace engine {

/// Values of a quantised tensor that stand together in every format.
inline constexpr int kQuantGroupValues = 32;

/// Scales of two levels: a half precision number for a block, times a small one for each group.
struct NestedScales {
    float block = 0.0F;
    std::array<std::int8_t, 2> factors = {};

    std::array<float, 2> products() const {
        return {block * static_cast<float>(factors[0]), block * static_cast<float>(factors[1])};
    }
};

/// 32 values as small whole numbers: value i is scale * (stored[i] - offset) + minimum. Scales and
/// minima are those of values 0-15 and of 16-31, one number twice where all 32 share it.
struct QuantGroup {
    std::array<std::uint8_t, kQuantGroupValues> stored = {};
    std::array<float, 2> scales = {};
    std::array<float, 2> minima = {};
    NestedScales nestedScales; ///< of nested types: scales once more, without loss
    NestedScales nestedMinima; ///< likewise
};

/// Values that four bits stand for, 128 above themselves.
using FourBitValues = std::array<std::uint8_t, 16>;

/// What all groups of a type have in common.
struct QuantTraits {
    int bits = 8;   ///< of a stored number
    int offset = 0; ///< of a stored number above the value
    bool hasMinima = false;
    bool fitsHalf = true;                 ///< scales and minima are half precision numbers
    bool isNested = false;                ///< they have two levels, in blocks of 256 values
    int scaleValues = kQuantGroupValues;  ///< values that share a scale: 32 or 16
    const FourBitValues* table = nullptr; ///< all values that are stored, if they are so few

    /// Tiles hold minima for 32 values only, so other groups are widened to plain numbers.
    bool fitsTiles() const { return !hasMinima || scaleValues == kQuantGroupValues; }
};

/// Whether a type's values come in groups; false for plain numbers and for Other.
bool isQuantised(TensorType type);

/// For quantised types only (ENGINE_CHECK).
QuantTraits quantTraits(TensorType type);

/// The groups of one stored block: blockLayout(type).values / 32 of them are written to `groups`.
/// Source: the block formats of GGUF (ggml-common.h of llama.cpp).
void readQuantBlock(TensorType type, const std::byte* block, QuantGroup* groups);

} // namespace engine
