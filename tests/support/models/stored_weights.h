// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/gguf/quantized_blocks.h"
#include "tests/support/models/tiny_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace support {

/// The matrices of a model as a file of this type stores them: F32, F16, BF16, Q8_0, Q4_0, Q4_1 or
/// MXFP4 (whose columns must be multiples of 32); vectors stay float32. Types in blocks of 256, as
/// Q4_K, hold arbitrary numbers of about the same size instead.
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

    /// 32 numbers below 16, the second half of them above the first.
    template <typename Stored>
    static void writeHalves(const float* values, std::byte* at, Stored stored) {
        for (int i = 0; i < 16; ++i)
            at[i] = static_cast<std::byte>(stored(values[i]) | stored(values[i + 16]) << 4U);
    }

    /// A power of two and 32 signs and places in a table, whose largest number is cut off at 12.
    static void writeMicroscaled(const float* values, std::byte* block) {
        static constexpr float kMagnitudes[] = {0, 1, 2, 3, 4, 6, 8, 12};
        float largest = 0.0F;
        for (int i = 0; i < 32; ++i)
            largest = std::max(largest, std::fabs(values[i]));
        const int exponent = std::ilogb(largest) - 3;
        block[0] = static_cast<std::byte>(128 + exponent);
        writeHalves(values, block + 1, [exponent](float value) {
            const float size = std::ldexp(std::fabs(value), -exponent);
            unsigned nearest = 0;
            for (unsigned i = 1; i < 8; ++i)
                if (std::fabs(kMagnitudes[i] - size) < std::fabs(kMagnitudes[nearest] - size))
                    nearest = i;
            return nearest | (value < 0.0F ? 8U : 0U);
        });
    }

    /// The same values give the same bytes; the block's own scales keep the numbers near 0.1.
    static void writeArbitrary(engine::TensorType type, const float* values, std::byte* block) {
        const engine::BlockLayout layout = engine::blockLayout(type);
        for (std::uint32_t i = 0; i < layout.bytes; ++i) {
            std::uint32_t bits = 0;
            std::memcpy(&bits, values + i % layout.values, sizeof bits);
            block[i] = static_cast<std::byte>((bits * 2654435761U) >> 24U);
        }
        if (type == engine::TensorType::Q3_K) {
            writeHalf(4e-4F, block + 108);
            return;
        }
        if (type == engine::TensorType::IQ4_XS) {
            writeHalf(4e-5F, block);
            return;
        }
        if (type == engine::TensorType::Q6_K) {
            writeHalf(4e-5F, block + 208);
            return;
        }
        writeHalf(type == engine::TensorType::Q4_K ? 2e-4F : 1e-4F, block);
        writeHalf(1.5e-3F, block + 2);
    }

    static void write(engine::TensorType type, const float* values, std::byte* block) {
        if (type == engine::TensorType::F32) {
            std::memcpy(block, values, 4);
        } else if (type == engine::TensorType::BF16) {
            const std::uint16_t bits = engine::bfloat16FromFloat(*values);
            std::memcpy(block, &bits, 2);
        } else if (type == engine::TensorType::F16) {
            writeHalf(*values, block);
        } else if (type == engine::TensorType::MXFP4) {
            writeMicroscaled(values, block);
        } else if (engine::blockLayout(type).values == 256) {
            writeArbitrary(type, values, block);
        } else if (type == engine::TensorType::Q8_0) {
            float largest = 0.0F;
            for (int i = 0; i < 32; ++i)
                largest = std::max(largest, std::fabs(values[i]));
            writeHalf(largest / 127.0F, block);
            for (int i = 0; i < 32; ++i)
                block[2 + i] = static_cast<std::byte>(
                    static_cast<int>(std::lround(values[i] / largest * 127.0F)));
        } else if (type == engine::TensorType::Q4_0) {
            float largest = 0.0F;
            for (int i = 0; i < 32; ++i)
                largest = std::max(largest, std::fabs(values[i]));
            const float step = largest / 7.0F;
            writeHalf(step, block);
            writeHalves(values, block + 2, [step](float value) {
                return static_cast<unsigned>(std::lround(value / step) + 8);
            });
        } else {
            const auto [low, high] = std::minmax_element(values, values + 32);
            const float step = (*high - *low) / 15.0F;
            const float least = *low;
            writeHalf(step, block);
            writeHalf(least, block + 2);
            writeHalves(values, block + 4, [step, least](float value) {
                return static_cast<unsigned>(std::lround((value - least) / step));
            });
        }
    }

    MemoryWeights m_weights;
    engine::TensorType m_type;
    std::vector<engine::TensorInfo> m_tensors;
};

} // namespace support
