// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/trainer.h"
#include "plugins/trainer_torch/network/draft_block.h"

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

namespace trainer_torch {

/// What one row of each depth counts in a step: the depth's weight, which falls by
/// TrainerPlan::depthDecay from depth to depth and sums to 1, over the step's rows of that depth.
/// Shapes: totals [TrainerPlan::unroll], returned likewise.
std::vector<double> rowWeights(const engine::TrainerPlan& plan,
                               std::span<const std::int64_t> totals);

/// The part of a pack in the losses of its step. Scalars.
struct PackLoss {
    at::Tensor likelihood, overlap, stream; ///< for people
    at::Tensor total;                       ///< what is trained, with gradients
};

/// The pack has a chain at least. Shapes: rowWeights [at least depths of the pack].
PackLoss packLoss(const DraftBlock& block,
                  const TensorMap& weights,
                  const PackTensors& pack,
                  std::span<const double> rowWeights,
                  const engine::StepTerms& terms,
                  double epsilon);

} // namespace trainer_torch
