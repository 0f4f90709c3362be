// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/checks/shapes/whole_number_weights.h"

#include "engine/base/counter_random.h"
#include "engine/base/to_size.h"
#include "engine/loading/gguf/quantized_blocks.h"

#include <algorithm>
#include <cstring>

namespace backend_cuda {

using namespace engine;

namespace {

void putBits(std::uint16_t bits, std::byte* at) { std::memcpy(at, &bits, sizeof bits); }

/// Makes numbers with a sign smaller, by so many bits.
void shrinkBytes(std::byte* first, std::size_t count, int bits) {
    for (std::size_t i = 0; i < count; ++i)
        first[i] = static_cast<std::byte>(static_cast<std::int8_t>(first[i]) >> bits);
}

void maskBytes(std::byte* first, std::size_t count, std::byte mask) {
    for (std::size_t i = 0; i < count; ++i)
        first[i] &= mask;
}

/// Turns a block of arbitrary bytes into one of whole numbers: scales are 1, or small themselves,
/// and minima lie in the middle.
void makeWhole(TensorType type, std::byte* block) {
    const std::uint16_t one = halfFromFloat(1.0F);
    const auto small = static_cast<float>(static_cast<std::int8_t>(block[0]) >> 2); // -32 to 31
    switch (type) {
    case TensorType::F32:
        std::memcpy(block, &small, sizeof small);
        break;
    case TensorType::F16:
        putBits(halfFromFloat(small), block);
        break;
    case TensorType::BF16:
        putBits(bfloat16FromFloat(small), block);
        break;
    case TensorType::Q8_0: // -32 to 31
        putBits(one, block);
        shrinkBytes(block + 2, 32, 2);
        break;
    case TensorType::Q5_1: // -16 to 15
        putBits(one, block);
        putBits(halfFromFloat(-16.0F), block + 2);
        break;
    case TensorType::Q4_0: // -8 to 7
        putBits(one, block);
        break;
    case TensorType::Q4_1: // the same
        putBits(one, block);
        putBits(halfFromFloat(-8.0F), block + 2);
        break;
    case TensorType::Q6_K: // -32 to 31, times -2 to 1
        shrinkBytes(block + 192, 16, 6);
        putBits(one, block + 208);
        break;
    case TensorType::Q4_K: // 0 to 15, times 0 to 3, less 0 to 3: pairs of six bits in 12 bytes
        putBits(one, block);
        putBits(one, block + 2);
        maskBytes(block + 4, 8, std::byte{0x03});
        maskBytes(block + 12, 4, std::byte{0x33});
        break;
    default:
        ENGINE_CHECK(false, "no whole numbers of type {}", tensorTypeName(type));
    }
}

} // namespace

WholeNumberWeights::WholeNumberWeights(TensorType type, int outputs, int columns) {
    const BlockLayout block = blockLayout(type);
    ENGINE_CHECK(toSize(columns) % block.values == 0, "{} columns", columns);
    m_matrix.name = "matrix";
    m_matrix.type = type;
    m_matrix.shape = {toSize(outputs), toSize(columns)};
    m_matrix.byteSize = toSize(outputs) * (toSize(columns) / block.values) * block.bytes;
}

Result<void> WholeNumberWeights::readRawRows(const TensorInfo& tensor,
                                             std::uint64_t firstRow,
                                             std::uint64_t rowCount,
                                             std::span<std::byte> out) const {
    const BlockLayout block = blockLayout(tensor.type);
    const std::uint64_t blocks = tensor.columns() / block.values;
    ENGINE_CHECK(out.size() == rowCount * blocks * block.bytes, "{} bytes", out.size());
    std::byte* at = out.data();
    for (std::uint64_t row = firstRow; row < firstRow + rowCount; ++row) {
        std::uint64_t state = mixBits(row);
        for (std::uint64_t i = 0; i < blocks; ++i, at += block.bytes) {
            for (std::size_t done = 0; done < block.bytes; done += 8) {
                const std::uint64_t eight = mixBits(state++);
                std::memcpy(at + done, &eight, std::min<std::size_t>(8, block.bytes - done));
            }
            makeWhole(tensor.type, at);
        }
    }
    return {};
}

Result<void> WholeNumberWeights::readRows(const TensorInfo& tensor,
                                          std::uint64_t firstRow,
                                          std::uint64_t rowCount,
                                          std::span<float> out) const {
    std::vector<std::byte> raw(
        static_cast<std::size_t>(tensor.byteSize / tensor.rows() * rowCount));
    ENGINE_TRY_DO(readRawRows(tensor, firstRow, rowCount, raw));
    dequantize(tensor.type, raw, out);
    return {};
}

} // namespace backend_cuda
