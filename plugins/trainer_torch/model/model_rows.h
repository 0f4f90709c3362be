// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"
#include "plugins/trainer_torch/model/row_plan.h"
#include "plugins/trainer_torch/rows/pack_tensors.h"

#include <ATen/core/Tensor.h>

#include <map>

namespace trainer_torch {

/// The rows of a pass as numbers.
struct ModelRows {
    at::Tensor tokens;              ///< [rows] int64
    at::Tensor isMask;              ///< [rows, 1] bool; not there if no token is a mask
    std::map<int, at::Tensor> seen; ///< by window: [rows, rows] 0 where seen, else -infinity
    std::map<engine::LayerRope, Angles> angles;

    std::int64_t count() const { return tokens.size(0); }
};

/// Makes row plans into numbers for one model. Thread: one.
class RowMaker {
public:
    /// `maskToken` is kNoToken where masks have no embedding of their own. The config must outlive
    /// it.
    RowMaker(const engine::ModelConfig& config, engine::TokenId maskToken, at::ScalarType type);

    ModelRows make(const RowPlan& plan) const;

private:
    const engine::ModelConfig& m_config;
    engine::TokenId m_maskToken;
    at::ScalarType m_type;
    std::map<engine::LayerRope, std::vector<double>> m_frequencies; // radians a position
};

} // namespace trainer_torch
