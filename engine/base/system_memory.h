// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <string_view>

namespace engine {

/// Where the system tells of memory.
struct MemoryReports {
    std::filesystem::path memory = "/proc/meminfo";
    std::filesystem::path ownGroups = "/proc/self/cgroup"; ///< the control groups of this process
    std::filesystem::path groups = "/sys/fs/cgroup";
};

/// Bytes that this process can take without swapping: those that the system reports as available,
/// or fewer where a control group of either version, such as a container, has fewer left of its
/// limit; the largest double if none is reported.
double availableMemoryIn(const MemoryReports& reports);

/// The same of this system.
double availableMemoryBytes();

/// Refuses an allocation that would not fit, in one sentence. Errors: NoMemory.
Result<void> checkMemoryFor(double bytes, std::string_view what);

} // namespace engine
