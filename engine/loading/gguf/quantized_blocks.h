// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/weight_source.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace engine {

/// Values are stored in blocks: so many values in so many bytes. Plain types have blocks of one.
struct BlockLayout {
    std::uint32_t values = 1;
    std::uint32_t bytes = 4;
};

/// The block of a type that can be computed with; not for TensorType::Other.
BlockLayout blockLayout(TensorType type);

/// IEEE half precision, exactly, subnormals, infinities and NaN included.
float floatFromHalf(std::uint16_t bits);

/// The nearest half, ties to even; beyond the largest one infinity.
std::uint16_t halfFromFloat(float value);

/// The nearest bfloat16, ties to even.
std::uint16_t bfloat16FromFloat(float value);

/// The upper half of a float32.
float floatFromBfloat16(std::uint16_t bits);

/// Converts stored blocks to float32 with one rounding for each operation (no fused
/// multiply-add). Source: the block formats of GGUF (ggml-common.h of llama.cpp).
/// Shapes: out [n], n a multiple of the block's values; blocks [n / values * bytes]; wrong sizes
/// are a bug (ENGINE_CHECK).
void dequantize(TensorType type, std::span<const std::byte> blocks, std::span<float> out);

/// One block of Q4_1 (32 values, 20 bytes) of floats: scale and least number that stand for the
/// least and the greatest value, or better ones by the sum of squares. False, and nothing is
/// written, where the first do not fit into halves.
bool roundToQ4_1(const float* values, std::byte* block);

} // namespace engine
