// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <stop_token>
#include <string>

namespace app {

/// A programming task's answer, and what tells whether it works.
struct CodeTrial {
    std::string program; ///< Python
    /// Python code that defines check(function); if empty, the examples (>>>) in `examples` are
    /// run.
    std::string test;
    std::string examples;
    std::string entryPoint; ///< the name of the function
};

/// Runs Python programs that nobody has read: in a child process under bubblewrap (Linux namespaces
/// without network, without any file of the user, with 16 MB of memory as its only disk), limited
/// to 5 s of processor time, 30 s in all, 1 GiB of memory, 32 open files and files of 1 MiB.
/// Thread: one.
class CodeSandbox {
public:
    /// Tries the sandbox once. Errors: Unsupported if bubblewrap, python3 or a limit is missing
    /// here, or if the system lets no user make namespaces: says which package or setting helps.
    static engine::Result<CodeSandbox> make(const std::stop_token& stop);

    /// Whether the program passes. A program that fails, does not end or ends the process does not.
    /// Errors: Io if the child cannot be started; Cancelled.
    engine::Result<bool> passes(const CodeTrial& trial) const;

private:
    explicit CodeSandbox(std::stop_token stop)
        : m_stop(std::move(stop)) {}

    std::stop_token m_stop;
};

} // namespace app
