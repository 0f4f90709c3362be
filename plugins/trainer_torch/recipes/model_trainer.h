// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/trainer.h"

#include <memory>

namespace trainer_torch {

/// A trainer of the model itself, that computes with LibTorch, in float32, on the processor. It
/// takes the model's numbers over. Errors: Unsupported for a model that computes what the trainer
/// cannot; InvalidInput for a plan that does not fit the model; NoMemory.
engine::Result<std::unique_ptr<engine::Trainer>>
makeModelTrainer(const engine::ModelTrainerPlan& plan, engine::ModelNumbers model);

} // namespace trainer_torch
