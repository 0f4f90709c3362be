// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/checks/made_up_weights.h"

#include "engine/base/counter_random.h"
#include "engine/loading/gguf/quantized_blocks.h"

#include <algorithm>
#include <cstring>

namespace backend_cuda {

using namespace engine;

namespace {

/// Where a block has its scale, and a factor for its minima if any, both half precision.
struct BlockScales {
    std::size_t scaleAt;
    float scale;
    std::size_t minimumAt; // 0: none
    float minimum;
};

BlockScales scalesOf(TensorType type) {
    switch (type) {
    case TensorType::Q4_K:
        return {0, 2e-4F, 2, 1.5e-3F};
    case TensorType::Q6_K:
        return {208, 4e-5F, 0, 0.0F};
    default: // Q4_0
        return {0, 1.5e-2F, 0, 0.0F};
    }
}

void putHalf(float value, std::byte* at) {
    const std::uint16_t bits = halfFromFloat(value);
    std::memcpy(at, &bits, sizeof bits);
}

} // namespace

MadeUpWeights::MadeUpWeights(const ModelConfig& config, TensorType type)
    : m_plain(config, TensorType::F32) {
    const BlockLayout block = blockLayout(type);
    for (TensorInfo tensor : m_plain.tensors()) {
        if (tensor.shape.size() == 2) {
            tensor.type = type;
            tensor.byteSize = tensor.rows() * tensor.columns() / block.values * block.bytes;
        }
        m_tensors.push_back(std::move(tensor));
    }
}

const TensorInfo* MadeUpWeights::find(std::string_view name) const {
    const auto found = std::find_if(
        m_tensors.begin(), m_tensors.end(), [&](const auto& each) { return each.name == name; });
    return found == m_tensors.end() ? nullptr : &*found;
}

Result<void> MadeUpWeights::readRows(const TensorInfo& tensor,
                                     std::uint64_t firstRow,
                                     std::uint64_t rowCount,
                                     std::span<float> out) const {
    std::vector<std::byte> raw(
        static_cast<std::size_t>(tensor.byteSize / tensor.rows() * rowCount));
    ENGINE_TRY_DO(readRawRows(tensor, firstRow, rowCount, raw));
    dequantize(tensor.type, raw, out);
    return {};
}

/// The same bytes for the same place of a tensor.
Result<void> MadeUpWeights::readRawRows(const TensorInfo& tensor,
                                        std::uint64_t firstRow,
                                        std::uint64_t rowCount,
                                        std::span<std::byte> out) const {
    if (tensor.type == TensorType::F32)
        return m_plain.readRawRows(*m_plain.find(tensor.name), firstRow, rowCount, out);
    std::uint64_t seed = tensor.name.size();
    for (const char letter : tensor.name)
        seed = mixBits(seed ^ static_cast<unsigned char>(letter));
    const std::uint64_t first = firstRow * (tensor.byteSize / tensor.rows());
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<std::byte>(mixBits(seed + first + i) >> 56U);
    const BlockScales scales = scalesOf(tensor.type);
    const std::size_t bytes = blockLayout(tensor.type).bytes;
    for (std::size_t at = 0; at < out.size(); at += bytes) {
        putHalf(scales.scale, out.data() + at + scales.scaleAt);
        if (scales.minimumAt != 0)
            putHalf(scales.minimum, out.data() + at + scales.minimumAt);
    }
    return {};
}

} // namespace backend_cuda
