// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/trainer.h"

#include <memory>

namespace trainer_torch {

/// A trainer that computes with LibTorch, in float32, on the processor. It copies what it needs of
/// the model. Errors: InvalidInput for a plan that does not fit the model; NoMemory.
engine::Result<std::unique_ptr<engine::Trainer>>
makeTorchTrainer(const engine::TrainerPlan& plan, const engine::TrainerModel& model);

} // namespace trainer_torch
