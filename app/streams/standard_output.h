// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <functional>
#include <string_view>

namespace app {

/// Opens those of standard input, output and error that are closed, so that no other file gets
/// their numbers; reading or writing them then fails as it should. Call it first in main().
void holdStandardStreams();

/// Standard output with every write checked. After the first failure nothing more is written.
/// Thread: main.
class StandardOutput {
public:
    /// Passes the bytes to the system at once.
    static void write(std::string_view bytes);

    /// Called when a write fails, so that the producer of the output can stop.
    static void onLoss(std::function<void()> handler);

    static bool isLost();

    /// Call it after the last write. Errors: Io if anything was lost.
    static engine::Result<void> finish();
};

} // namespace app
