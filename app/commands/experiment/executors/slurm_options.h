// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace app {

/// What a user says about the jobs. Empty and 0: as the cluster's own defaults are.
struct SlurmOptions {
    std::string partition = {};
    std::string time = {};                   ///< of one shard, as sbatch takes it: "30", "2:00:00"
    std::string memory = {};                 ///< of one shard, as sbatch takes it: "4G"
    int cpus = 0;                            ///< of one shard
    int throttle = 0;                        ///< shards that run at the same time
    std::vector<std::string> arguments = {}; ///< further ones for sbatch: "--exclusive"
    int attempts = 3;                        ///< how often a shard is submitted at most
    double pollSeconds = 5.0;                ///< between two questions to Slurm

    bool operator==(const SlurmOptions&) const = default;
};

/// Errors: InvalidInput for values that cannot be words of a command, and for arguments with which
/// the run could not be followed ("--array", "--output", ...).
engine::Result<void> checkSlurmOptions(const SlurmOptions& options);

/// Adds --slurm-partition and so on.
void addSlurmOptions(CLI::App& command, SlurmOptions& options);

} // namespace app
