// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/weight_source.h"

namespace backend_cuda {

/// One matrix of arbitrary whole numbers from -64 to 64, in any type that kernels hold in a form of
/// its own. Nothing is stored: rows are made as they are read.
class WholeNumberWeights final : public engine::WeightSource {
public:
    /// `type` is F32, F16, BF16, Q8_0, Q5_1, Q6_K, Q4_0, Q4_1 or Q4_K; another one is a bug
    /// (ENGINE_CHECK), as are columns that are no whole number of blocks.
    WholeNumberWeights(engine::TensorType type, int outputs, int columns);

    const engine::TensorInfo& matrix() const { return m_matrix; }

    std::span<const engine::TensorInfo> tensors() const override { return std::span(&m_matrix, 1); }

    const engine::TensorInfo* find(std::string_view name) const override {
        return name == m_matrix.name ? &m_matrix : nullptr;
    }

    engine::Result<void> readRows(const engine::TensorInfo& tensor,
                                  std::uint64_t firstRow,
                                  std::uint64_t rowCount,
                                  std::span<float> out) const override;

    engine::Result<void> readRawRows(const engine::TensorInfo& tensor,
                                     std::uint64_t firstRow,
                                     std::uint64_t rowCount,
                                     std::span<std::byte> out) const override;

private:
    engine::TensorInfo m_matrix;
};

} // namespace backend_cuda
