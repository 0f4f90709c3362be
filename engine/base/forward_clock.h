// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/time/pause_meter.h"

#include <algorithm>
#include <chrono>

namespace engine {

/// std::chrono::steady_clock for machines on which it is not steady: clocks of virtual machines
/// have been seen to step back. No reading is before an earlier one of the same thread, so no
/// duration is negative; it may be zero. Where the program beats (see PauseMeter), the time in
/// which the whole process was held does not count.
struct ForwardClock {
    using duration = std::chrono::steady_clock::duration;
    using time_point = std::chrono::steady_clock::time_point;

    static time_point now() {
        static thread_local time_point newest{};
        newest =
            std::max(newest, PauseMeter::ofProcess().without(std::chrono::steady_clock::now()));
        return newest;
    }
};

} // namespace engine
