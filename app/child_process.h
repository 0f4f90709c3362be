// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

namespace app {

/// A program to run to its end, without a shell.
struct ChildCommand {
    std::vector<std::string> words; ///< the program, looked up in PATH if it has no '/'; arguments
    std::string input = {};
    std::chrono::seconds limit{30};
    std::size_t mostOutput = 4096; ///< of each of its two outputs, only the last bytes are kept
};

/// The end of a child.
struct ChildOutput {
    int status = 0;       ///< as waitpid() gives it
    bool hasEnded = true; ///< false: it was killed because the time was up
    std::string output;
    std::string errors; ///< its standard error

    /// Whether it ended by itself with exit code 0.
    bool hasSucceeded() const;
};

/// Runs a program and waits for its end. What it writes is nobody's word but its own: treat it as
/// untrusted. Errors: NotFound if there is no such program; Io if it cannot be started; Cancelled.
/// A child that is stopped or late is killed. Thread: any.
engine::Result<ChildOutput> runChild(const ChildCommand& command, const std::stop_token& stop);

} // namespace app
