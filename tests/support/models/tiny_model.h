// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"
#include "engine/loading/weight_source.h"

#include <map>
#include <string>
#include <vector>

namespace support {

/// Tensors that live in memory, all float32.
class MemoryWeights : public engine::WeightSource {
public:
    void add(const std::string& name, std::vector<std::uint64_t> shape, std::vector<float> values);

    /// The values of a tensor, to be changed by a test.
    std::vector<float>& values(const std::string& name);

    std::span<const engine::TensorInfo> tensors() const override { return m_tensors; }

    const engine::TensorInfo* find(std::string_view name) const override;

    engine::Result<void> readRows(const engine::TensorInfo& tensor,
                                  std::uint64_t firstRow,
                                  std::uint64_t rowCount,
                                  std::span<float> out) const override;

    engine::Result<void> readRawRows(const engine::TensorInfo& tensor,
                                     std::uint64_t firstRow,
                                     std::uint64_t rowCount,
                                     std::span<std::byte> out) const override;

private:
    std::vector<engine::TensorInfo> m_tensors;
    std::map<std::string, std::vector<float>, std::less<>> m_values;
};

/// A small llama-like network: 3 layers, hidden 48, MLP 80, 4 heads of 12 with 2 kv heads,
/// vocabulary 160, context 512, own head.
engine::ModelConfig tinyConfig();

/// Networks with features that a LLaMA lacks, in sizes of whole groups of 32 numbers: experts,
/// norms of each head, layers with no or partial rotation; norms before and after a branch,
/// soft-caps, windows with a rotary base of their own, scales; norms after a branch and over all
/// heads.
engine::ModelConfig expertConfig();
engine::ModelConfig cappedConfig();
engine::ModelConfig normsBehindConfig();

/// The same with this many layers.
engine::ModelConfig layeredConfig(int layers);

/// Every tensor that the config requires, filled with seeded random numbers of a size that keeps
/// activations near 1.
MemoryWeights randomWeights(const engine::ModelConfig& config, unsigned seed);

/// Scales a layer's contribution to the stream by `part`.
void quietenLayer(MemoryWeights& weights, int layer, float part);

/// Makes the network confident of its next token, right or wrong: mostly above .9999, at
/// temperature 1.
void sharpenHead(MemoryWeights& weights);

} // namespace support
