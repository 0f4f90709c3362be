// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"
#include "engine/loading/weight_source.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// The sizes of a LLaMA of about 1, 3 or 7 billion parameters ("1b", "3b", "7b"), to measure how
/// fast such a model would run; `layerCount` 0 keeps the shape's own number of layers.
/// Errors: InvalidInput for a name that is none of these, or for a negative number of layers.
Result<ModelConfig> syntheticConfig(std::string_view shape, int layerCount);

/// Made-up weights for every tensor a config without biases calls for: each value depends on the
/// tensor's name and its place alone, is nearly uniform and of a size that keeps activations near
/// 1. Nothing is stored: rows are made as they are read. Norms are ones in float32.
class SyntheticWeights : public WeightSource {
public:
    /// `type` of the linear layers and the embedding: F32, BF16, Q8_0 or Q4_1; another is a bug
    /// (ENGINE_CHECK), as are columns that are no whole number of blocks.
    SyntheticWeights(const ModelConfig& config, TensorType type);

    std::span<const TensorInfo> tensors() const override { return m_tensors; }

    const TensorInfo* find(std::string_view name) const override;

    Result<void> readRows(const TensorInfo& tensor,
                          std::uint64_t firstRow,
                          std::uint64_t rowCount,
                          std::span<float> out) const override;

    Result<void> readRawRows(const TensorInfo& tensor,
                             std::uint64_t firstRow,
                             std::uint64_t rowCount,
                             std::span<std::byte> out) const override;

    /// All tensors together, as they would be stored.
    std::uint64_t byteSize() const;

private:
    void add(std::string name, std::vector<std::uint64_t> shape, TensorType type);

    std::vector<TensorInfo> m_tensors;
    std::map<std::string, std::size_t, std::less<>> m_indexOf;
};

} // namespace engine
