// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/experiment/executors/slurm_options.h"
#include "app/commands/experiment/executors/slurm_output.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace app {

/// Slurm's commands, as found in PATH. None of them waits longer than a minute. What they say is
/// quoted in errors. Thread: one.
class SlurmCommands {
public:
    /// `prefix` begins the names of this run's jobs. Errors: NotFound if Slurm is not installed.
    static engine::Result<SlurmCommands> find(std::string prefix);

    /// Submits one array of `script` with these indexes and returns its number; `family` becomes
    /// part of its name, `log` is the path of its output with sbatch's own %A and %a. Errors:
    /// InvalidInput if sbatch refuses; Io if it does not answer; CorruptFile.
    engine::Result<long> submit(const SlurmOptions& options,
                                const std::filesystem::path& script,
                                const std::string& log,
                                int family,
                                const std::set<int>& indexes) const;

    /// All tasks of this run that Slurm still knows, also of jobs whose number nobody has kept.
    /// `families` is their number. Errors: Io if squeue does not answer, CorruptFile.
    engine::Result<SlurmTaskStates> queue(int families) const;

    /// What the accounts say about these jobs; none where there are no accounts (as in a small
    /// installation) or where they know nothing. Errors: CorruptFile.
    engine::Result<SlurmTaskStates> accounts(const std::set<long>& jobs) const;

    /// Errors of these three: Io if Slurm refuses or does not answer.
    engine::Result<void> cancel(const std::set<long>& jobs) const;
    engine::Result<void> hold(const std::vector<SlurmTask>& tasks) const;
    engine::Result<void> release(const std::vector<SlurmTask>& tasks) const;

private:
    explicit SlurmCommands(std::string prefix)
        : m_prefix(std::move(prefix)) {}

    std::string m_prefix;
};

} // namespace app
