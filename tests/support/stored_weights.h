// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/quantized_blocks.h"
#include "tests/support/tiny_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace support {

/// The matrices of a model as a file of this type stores them: BF16, Q8_0 or Q4_1 (whose columns
/// must be multiples of 32); vectors stay float32.
class StoredWeights final : public engine::WeightSource {
public:
    StoredWeights(MemoryWeights weights, engine::TensorType type)
        : m_weights(std::move(weights))
        , m_type(type) {
        for (const engine::TensorInfo& tensor : m_weights.tensors()) {
            engine::TensorInfo stored = tensor;
            if (tensor.shape.size() == 2) {
                const engine::BlockLayout block = engine::blockLayout(type);
                stored.type = type;
                stored.byteSize = tensor.rows() * tensor.columns() / block.values * block.bytes;
            }
            m_tensors.push_back(std::move(stored));
        }
    }

    std::span<const engine::TensorInfo> tensors() const override { return m_tensors; }

    const engine::TensorInfo* find(std::string_view name) const override {
        const auto found = std::find_if(m_tensors.begin(), m_tensors.end(), [&](const auto& each) {
            return each.name == name;
        });
        return found == m_tensors.end() ? nullptr : &*found;
    }

    engine::Result<void> readRows(const engine::TensorInfo& tensor,
                                  std::uint64_t first,
                                  std::uint64_t count,
                                  std::span<float> out) const override {
        std::vector<std::byte> raw(
            static_cast<std::size_t>(tensor.byteSize / tensor.rows() * count));
        ENGINE_TRY_DO(readRawRows(tensor, first, count, raw));
        engine::dequantize(tensor.type, raw, out);
        return {};
    }

    engine::Result<void> readRawRows(const engine::TensorInfo& tensor,
                                     std::uint64_t first,
                                     std::uint64_t count,
                                     std::span<std::byte> out) const override {
        std::vector<float> values(static_cast<std::size_t>(count * tensor.columns()));
        const engine::TensorInfo* plain = m_weights.find(tensor.name);
        ENGINE_TRY_DO(m_weights.readRows(*plain, first, count, values));
        const engine::BlockLayout block = engine::blockLayout(tensor.type);
        for (std::size_t i = 0; i * block.values < values.size(); ++i)
            write(tensor.type, values.data() + i * block.values, out.data() + i * block.bytes);
        return {};
    }

private:
    static void writeHalf(float value, std::byte* at) {
        const std::uint16_t bits = engine::halfFromFloat(value);
        std::memcpy(at, &bits, 2);
    }

    static void write(engine::TensorType type, const float* values, std::byte* block) {
        if (type == engine::TensorType::F32) {
            std::memcpy(block, values, 4);
        } else if (type == engine::TensorType::BF16) {
            const std::uint16_t bits = engine::bfloat16FromFloat(*values);
            std::memcpy(block, &bits, 2);
        } else if (type == engine::TensorType::Q8_0) {
            float largest = 0.0F;
            for (int i = 0; i < 32; ++i)
                largest = std::max(largest, std::fabs(values[i]));
            writeHalf(largest / 127.0F, block);
            for (int i = 0; i < 32; ++i)
                block[2 + i] = static_cast<std::byte>(
                    static_cast<int>(std::lround(values[i] / largest * 127.0F)));
        } else {
            const auto [low, high] = std::minmax_element(values, values + 32);
            const float step = (*high - *low) / 15.0F;
            writeHalf(step, block);
            writeHalf(*low, block + 2);
            for (int i = 0; i < 16; ++i) {
                const long first = std::lround((values[i] - *low) / step);
                const long second = std::lround((values[i + 16] - *low) / step);
                block[4 + i] = static_cast<std::byte>(first | second << 4);
            }
        }
    }

    MemoryWeights m_weights;
    engine::TensorType m_type;
    std::vector<engine::TensorInfo> m_tensors;
};

} // namespace support
