// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/trainer.h"
#include "plugins/trainer_torch/network/draft_weights.h"

namespace trainer_torch {

/// A model's tensors by their network's names, in this type. Those of `numbers` are given back one
/// by one, so that they are in memory once.
TensorMap takeTensors(engine::ModelNumbers& numbers, at::ScalarType type);

/// What training starts from, in the type of the tensors. With LoRA: each linear layer of the
/// layers has a lora_down of normal noise and a lora_up of zeros, so that the model is what it was;
/// for SPACE, kMaskEmbedding is normal noise as large as the numbers of the embedding. Full: the
/// tensors themselves, copied, with that noise in the mask's row. Noise is a function of the plan's
/// seed, the tensor and the place in it.
TensorMap trainedStart(const engine::ModelTrainerPlan& plan,
                       const engine::ModelConfig& config,
                       const TensorMap& tensors);

/// The token that has an embedding of its own in training; kNoToken but for SPACE.
engine::TokenId ownMask(const engine::ModelTrainerPlan& plan);

} // namespace trainer_torch
