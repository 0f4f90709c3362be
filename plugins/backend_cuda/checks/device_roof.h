// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/read_roof.h"
#include "plugins/backend_cuda/device/device.h"

#include <memory>

namespace backend_cuda {

/// How fast a GPU's memory is read, over so many bytes or as many as a quarter of what is free.
/// Errors: NoMemory; those of the device.
engine::Result<std::unique_ptr<engine::ReadRoof>>
makeDeviceRoof(const std::shared_ptr<Device>& device, std::size_t bytes);

} // namespace backend_cuda
