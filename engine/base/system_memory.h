// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

namespace engine {

/// Bytes that the system reports as available without swapping; the largest double if it does not
/// report them.
inline double availableMemoryBytes() {
    std::ifstream file("/proc/meminfo");
    std::string key;
    double kibibytes = 0;
    std::string unit;
    while (file >> key >> kibibytes) {
        if (key == "MemAvailable:")
            return kibibytes * 1024.0;
        std::getline(file, unit);
    }
    return std::numeric_limits<double>::max();
}

/// Refuses an allocation that would not fit, in one sentence. Errors: NoMemory.
inline Result<void> checkMemoryFor(double bytes, std::string_view what) {
    const double available = availableMemoryBytes();
    if (bytes <= available)
        return {};
    return Error{
        ErrorCode::NoMemory,
        fmt::format("There is not enough memory for {}: {:.1f} GB are needed, {:.1f} GB are free.",
                    what,
                    bytes / 1e9,
                    available / 1e9),
        "Close other programs, or choose a smaller model, a shorter --context or narrower "
        "weights (--weights, --precision)."};
}

} // namespace engine
