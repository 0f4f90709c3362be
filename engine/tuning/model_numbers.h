// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"
#include "engine/loading/weight_source.h"
#include "engine/tuning/trainer.h"

namespace engine {

/// Sizes of a draft network for this model: layers like the model's own. Errors: Unsupported for a
/// model whose MLPs are all cut into experts without a size of their own, and for one so large that
/// the adapter could not be read.
Result<DraftSizes> draftSizesFor(const ModelConfig& model, int layers, int window);

/// Numbers of the sizes that are trained.
std::int64_t trainedWeights(const DraftSizes& sizes);

/// What a trainer needs of a model, read from its files as float32. `lastLayer` stays empty unless
/// it is wanted and the model's last layer is one that the draft network could be. Errors: those of
/// reading tensors, NoMemory among them.
Result<TrainerModel>
readTrainerModel(const ModelConfig& model, const WeightSource& weights, bool wantsLastLayer);

/// All tensors of a model. Errors: those of reading tensors, NoMemory among them.
Result<ModelNumbers> readModelNumbers(const ModelConfig& model, const WeightSource& weights);

/// Numbers that a recipe trains which changes the model.
std::int64_t trainedWeights(const ModelTrainerPlan& plan, const ModelConfig& model);

} // namespace engine
