// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/backends/backend_registry.h"
#include "plugins/backend_cuda/device/device.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

namespace backend_cuda {

/// Where the backend finds its GPUs: the driver's, or in tests an emulated one.
struct Machine {
    /// All GPUs that it can compute on. Errors: Unsupported, saying why there are none.
    std::function<engine::Result<std::vector<DeviceFacts>>()> list;
    /// The GPU at this place of the list, ready to compute. Errors: as list(); those of the device.
    std::function<engine::Result<std::shared_ptr<Device>>(int)> open;
    /// Where a GPU that passed its test leaves a file; empty: none is tested.
    std::filesystem::path testFolder = {};
    /// Tokens that a loaded model computes before it is believed: more than attention cuts its keys
    /// over, so that sections are joined.
    int checkedRows = kSectionKeys + 8;
};

/// Adds the backend "cuda" to a registry.
void registerBackend(engine::BackendRegistry& registry, const Machine& machine);

} // namespace backend_cuda
