// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <functional>
#include <string_view>

namespace app {

/// Opens what is closed of standard input, output and error, so that no file of ours takes their
/// numbers; reading or writing them then fails as it should. To be called first in main().
void holdStandardStreams();

/// Standard output, every write of which is checked. Behind the first one that fails nothing more
/// is written. Thread: main.
class StandardOutput {
public:
    /// Hands the bytes to the system at once.
    static void write(std::string_view bytes);

    /// Called when a write fails: whoever makes the output may as well stop.
    static void onLoss(std::function<void()> handler);

    static bool isLost();

    /// Behind the last write. Errors: Io when anything was lost.
    static engine::Result<void> finish();
};

} // namespace app
