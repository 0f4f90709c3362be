// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/backends/backend_registry.h"

#include <string>
#include <vector>

namespace support {

/// The names of the backends that have something to compute on here: a GPU may be missing.
inline std::vector<std::string> usableBackends(engine::BackendRegistry& registry) {
    std::vector<std::string> names;
    for (const engine::BackendInfo& info : registry.list())
        if (info.devices())
            names.push_back(info.name);
    return names;
}

} // namespace support
