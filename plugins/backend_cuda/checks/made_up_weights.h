// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/network/synthetic_model.h"

namespace backend_cuda {

/// Made-up weights whose matrices are stored as float32, Q4_0, Q4_K or Q6_K: those of
/// SyntheticWeights, or blocks of arbitrary numbers with scales that keep activations near 1.
class MadeUpWeights final : public engine::WeightSource {
public:
    /// Columns must be whole numbers of blocks.
    MadeUpWeights(const engine::ModelConfig& config, engine::TensorType type);

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
    engine::SyntheticWeights m_plain;
    std::vector<engine::TensorInfo> m_tensors;
};

} // namespace backend_cuda
