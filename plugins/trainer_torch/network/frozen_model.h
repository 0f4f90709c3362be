// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/trainer.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace trainer_torch {

/// What a draft network uses of the model and never trains.
struct FrozenModel {
    at::Tensor embedding; ///< [vocab, hidden]
    at::Tensor head;      ///< [headIds, hidden]
    std::vector<engine::TokenId> headIds;
    std::vector<int> headRows; ///< [vocab] a token's row of the head; -1: none
    double logitScale = 1.0;
    double logitSoftCap = 0.0; ///< behind the scale; 0: logits stay

    /// -1 for a token that cannot be drafted, and for what is no token.
    int headRowOf(engine::TokenId token) const {
        const auto place = static_cast<std::size_t>(token);
        return token >= 0 && place < headRows.size() ? headRows[place] : -1;
    }
};

/// In float32, or in float64 for checks. The plan fits the model.
FrozenModel
freeze(const engine::TrainerPlan& plan, const engine::TrainerModel& model, at::ScalarType type);

} // namespace trainer_torch
