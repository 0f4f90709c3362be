// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/backend_cuda/checks/shapes/shape_check.h"
#include "plugins/backend_cuda/device/device.h"

#include <filesystem>

namespace backend_cuda {

/// Believes a GPU only after it has computed made-up networks: one in each form of weights, then
/// smaller ones with heads of each width and with what is not in those. All rows must be the same
/// bits in launches of many and of few rows, as a chain, as a tree and behind a draft that was
/// kept, by whole passes and by operations, and on half the blocks; and they must be near the
/// reference in float64. Errors: Device names the GPU, the form and what differs; NoMemory; those
/// of the device.
engine::Result<void> testDevice(const std::shared_ptr<Device>& device);

/// The smaller networks of testDevice() alone.
engine::Result<void> testSizes(const std::shared_ptr<Device>& device);

/// testDevice() and testShapes(), once for each GPU, driver and build: a GPU that passed leaves a
/// file in the folder. If that cannot be written, the next load tests again.
engine::Result<void> testDeviceOnce(const std::shared_ptr<Device>& device,
                                    const std::filesystem::path& folder,
                                    ShapeSample shapes = ShapeSample::All);

/// The file's name.
std::string testNameOf(const DeviceFacts& facts);

} // namespace backend_cuda
