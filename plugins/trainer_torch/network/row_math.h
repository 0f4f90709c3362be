// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/trainer_torch/rows/pack_tensors.h"

#include <ATen/core/Tensor.h>

namespace trainer_torch {

/// In the type of the weight; comes back in that of the input. Shapes: in [rows, inputs], weight
/// [outputs, inputs], returns [rows, outputs].
at::Tensor product(const at::Tensor& in, const at::Tensor& weight);

/// `sum` is not defined where nothing was added yet.
void addTo(at::Tensor& sum, const at::Tensor& part);

/// in / rms(in) * weight over the last dimension. Shapes: in [..., width], weight [width].
at::Tensor normalise(const at::Tensor& in, const at::Tensor& weight, double epsilon);

/// Turns the pairs (i, i + dim / 2) of each head. Shapes: heads [rows, heads, headDim].
at::Tensor rotate(const at::Tensor& heads, const Angles& angles);

} // namespace trainer_torch
