// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/trainer.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainer_torch {

/// Tensors of a draft network by the names of adapter files.
using TensorMap = std::map<std::string, at::Tensor, std::less<>>;

/// The shape of each tensor of a draft network by its name in adapter files.
std::map<std::string, std::vector<std::int64_t>> weightShapes(const engine::DraftSizes& sizes);

/// Whether the tensor of this name scales a norm.
bool isNorm(std::string_view name);

/// A standard normal number by the method of Box and Muller, a function of its keys alone.
double normalNoise(std::uint64_t seed, std::uint64_t place, int tensor);

/// What training starts from, in float32: the weights of the plan, see checkPlan. Where it has
/// none, the stream goes through the input layer as it is, with a little noise; the layer is the
/// model's last one if there is one of the same sizes, otherwise random; norms are 1, the one in
/// front of the head the model's. Noise is a function of the plan's seed, the tensor and the place
/// in it.
TensorMap initialWeights(const engine::TrainerPlan& plan, const engine::TrainerModel& model);

} // namespace trainer_torch
