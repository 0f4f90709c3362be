// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/backend_cuda/device/device.h"

namespace backend_cuda {

/// Which sizes are computed: those of models that people run, or a few of them, which an emulated
/// GPU computes in seconds.
enum class ShapeSample { All, Few };

/// Multiplies matrices that are as wide and as high as those of real models, in bfloat16 and by
/// turns in the other forms, by one row and by many. They hold whole numbers so small that every
/// sum is exact, whatever its order: outputs all over a matrix must be what whole numbers give. Of
/// heads also the best tokens and the normaliser must be those of all logits. A matrix for which
/// the GPU has no room is left out. Errors: Device names the GPU and the matrix; those of the
/// device.
engine::Result<void> testMatrices(const std::shared_ptr<Device>& device, ShapeSample sample);

/// Computes attention with heads of each width, as many queries to a key as real models have, and
/// keys of each type, over several sections. It must be near what float64 gives. Errors: Device
/// names the GPU and the heads; those of the device.
engine::Result<void> testAttention(const std::shared_ptr<Device>& device, ShapeSample sample);

/// Both.
engine::Result<void> testShapes(const std::shared_ptr<Device>& device, ShapeSample sample);

} // namespace backend_cuda
