// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/processor.h"
#include "engine/kernels/rows/row_kernels.h"
#include "engine/kernels/tiles/packing/tile_packing.h"
#include "engine/loading/gguf/quantized_blocks.h"

#include <cstring>
#include <random>
#include <vector>

namespace support {

/// One tensor of random blocks as a file would hold them.
class BlockSource final : public engine::WeightSource {
public:
    BlockSource(engine::TensorType type, int rows, int columns, unsigned seed) {
        const engine::BlockLayout block = engine::blockLayout(type);
        const std::size_t blocks =
            static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) / block.values;
        m_bytes.resize(blocks * block.bytes);
        std::mt19937 random(seed);
        for (std::byte& byte : m_bytes)
            byte = static_cast<std::byte>(random());
        for (std::size_t i = 0; i < blocks; ++i)
            calm(type, m_bytes.data() + i * block.bytes, random);
        m_tensor = {"weight",
                    type,
                    {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns)},
                    m_bytes.size(),
                    {}};
    }

    std::span<const engine::TensorInfo> tensors() const override { return {&m_tensor, 1}; }

    const engine::TensorInfo* find(std::string_view) const override { return &m_tensor; }

    const engine::TensorInfo& tensor() const { return m_tensor; }

    std::vector<std::byte>& bytes() { return m_bytes; }

    engine::Result<void> readRows(const engine::TensorInfo& tensor,
                                  std::uint64_t first,
                                  std::uint64_t count,
                                  std::span<float> out) const override {
        engine::dequantize(tensor.type, rawRows(first, count), out);
        return {};
    }

    engine::Result<void> readRawRows(const engine::TensorInfo&,
                                     std::uint64_t first,
                                     std::uint64_t count,
                                     std::span<std::byte> out) const override {
        const auto raw = rawRows(first, count);
        std::copy(raw.begin(), raw.end(), out.begin());
        return {};
    }

private:
    std::span<const std::byte> rawRows(std::uint64_t first, std::uint64_t count) const {
        const std::size_t rowBytes = m_bytes.size() / static_cast<std::size_t>(m_tensor.rows());
        return std::span(m_bytes).subspan(static_cast<std::size_t>(first) * rowBytes,
                                          static_cast<std::size_t>(count) * rowBytes);
    }

    /// Random bytes as scales would be infinite now and then: those are made small numbers.
    static void calm(engine::TensorType type, std::byte* block, std::mt19937& random) {
        const float value = (static_cast<float>(random() % 2001) - 1000.0F) / 1000.0F;
        const std::uint16_t half = engine::halfFromFloat(value * 0.05F);
        const std::uint16_t second = engine::halfFromFloat(value * -0.03F);
        switch (type) {
        case engine::TensorType::F32:
            std::memcpy(block, &value, 4);
            break;
        case engine::TensorType::BF16: {
            const std::uint16_t bits = engine::bfloat16FromFloat(value);
            std::memcpy(block, &bits, 2);
            break;
        }
        case engine::TensorType::Q6_K:
            std::memcpy(block + 208, &half, 2);
            break;
        case engine::TensorType::Q2_K:
            std::memcpy(block + 80, &half, 2);
            std::memcpy(block + 82, &second, 2);
            break;
        case engine::TensorType::Q3_K:
            std::memcpy(block + 108, &half, 2);
            break;
        case engine::TensorType::MXFP4:
            *block = static_cast<std::byte>(118 + random() % 8);
            break;
        case engine::TensorType::Q4_1:
        case engine::TensorType::Q5_1:
        case engine::TensorType::Q4_K:
        case engine::TensorType::Q5_K:
            std::memcpy(block + 2, &second, 2);
            [[fallthrough]];
        default:
            std::memcpy(block, &half, 2);
        }
    }

    engine::TensorInfo m_tensor;
    std::vector<std::byte> m_bytes;
};

inline const std::vector<engine::TensorType> kComputedTypes = {engine::TensorType::F32,
                                                               engine::TensorType::F16,
                                                               engine::TensorType::BF16,
                                                               engine::TensorType::Q8_0,
                                                               engine::TensorType::Q4_0,
                                                               engine::TensorType::Q4_1,
                                                               engine::TensorType::Q5_0,
                                                               engine::TensorType::Q5_1,
                                                               engine::TensorType::Q4_K,
                                                               engine::TensorType::Q5_K,
                                                               engine::TensorType::Q6_K,
                                                               engine::TensorType::Q2_K,
                                                               engine::TensorType::Q3_K,
                                                               engine::TensorType::IQ4_NL,
                                                               engine::TensorType::IQ4_XS,
                                                               engine::TensorType::MXFP4};

/// A packed matrix and its memory.
struct PackedTensor {
    PackedTensor(const BlockSource& source, engine::WeightForm wanted) {
        const engine::TensorInfo& tensor = source.tensor();
        const engine::TileFormat format = engine::tileFormat(tensor.type, wanted);
        matrix = engine::outlineMatrix(
            format, static_cast<int>(tensor.rows()), static_cast<int>(tensor.columns()));
        memory = engine::HugeMemory::make(engine::matrixBytes(matrix), "a test").value();
        packed = engine::packMatrix(source, tensor, format, memory.data());
        matrix.data = memory.data();
    }

    engine::TileMatrix matrix;
    engine::HugeMemory memory;
    engine::Result<void> packed;
};

} // namespace support
