// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/backends/backend_registry.h"

#include <filesystem>
#include <vector>

namespace engine {

/// The available backends, the default one first; command lines and forms are built from it.
/// Modules that cannot be opened are left out. Thread: any.
inline std::vector<BackendInfo> knownBackends(const std::filesystem::path& moduleFolder) {
    return BackendRegistry(moduleFolder).list();
}

} // namespace engine
