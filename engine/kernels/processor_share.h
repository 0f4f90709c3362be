// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace engine {

/// What this process may compute on.
struct ProcessorShare {
    int processors = 1; ///< that the system lets it run on
    int cores = 1;      ///< physical ones among them; a core may be two processors
    /// Processors' worth of time that its container may use; infinity where there is no limit.
    double quota = std::numeric_limits<double>::infinity();
    int systemProcessors = 0; ///< all that run in the system; 0: unknown
    int systemCores = 0;      ///< physical ones among them

    /// Threads beyond this number would only wait.
    int mostThreads() const;

    /// The number of threads to compute with: a core's second processor adds nothing, because
    /// decoding waits for the memory.
    int bestThreads() const;
};

/// Numbers of the processors that this process may run on, at least one.
std::vector<int> allowedProcessors();

/// The share of a process that may run on these processors. Cores are told by the files of the
/// system below `root`, limits by those of its control group (version 1 or 2) and of the groups
/// around it; a file that is missing or cannot be understood limits nothing.
ProcessorShare readProcessorShare(const std::vector<int>& allowed,
                                  const std::filesystem::path& root = "/");

/// This process' own share, read once.
const ProcessorShare& processorShare();

/// The number of compute threads for a request: at most what the share allows; for 0, which leaves
/// the choice to the program, the best number.
int usefulThreads(int wanted, const ProcessorShare& share = processorShare());

/// The note for a user who asked for more threads than that; or who left the choice to the program
/// where its container has less time than its cores could use, or where it may not run on some of
/// the system's cores; otherwise empty.
std::string threadsNote(int wanted, const ProcessorShare& share = processorShare());

} // namespace engine
