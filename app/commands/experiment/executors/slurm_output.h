// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <map>
#include <string>
#include <string_view>

namespace app {

// What Slurm's commands print, read strictly: a line that has another form is an error, because
// acting on half of an answer could run a shard twice or never.

/// One task of a job array.
struct SlurmTask {
    long job = 0;   ///< of the array
    int index = 0;  ///< SLURM_ARRAY_TASK_ID
    int family = 0; ///< which thousand of shards, see slurmJobName()

    auto operator<=>(const SlurmTask&) const = default;
};

enum class SlurmPhase {
    Queued,
    Running,
    Completed, ///< the program ended with exit code 0
    Ended,     ///< failed, cancelled, out of memory or time, node lost, ...
};

struct SlurmTaskState {
    SlurmPhase phase = SlurmPhase::Queued;
    std::string word;        ///< as Slurm says: "OUT_OF_MEMORY"
    std::string node = {};   ///< empty = none yet
    std::string reason = {}; ///< why it waits or ended, as Slurm says; may be empty
};

using SlurmTaskStates = std::map<SlurmTask, SlurmTaskState>;

/// The name of the jobs of one run (`prefix`, without '.') whose array indexes mean the shards from
/// 1000 * `family` on: an array may have 1,001 tasks in most installations, a run more.
std::string slurmJobName(const std::string& prefix, int family);

/// The number of the job that `sbatch --parsable` names. Errors: CorruptFile.
engine::Result<long> readSbatchAnswer(std::string_view text);

/// What to ask of squeue, and its answer. Jobs of other names are left out. Errors: CorruptFile.
inline constexpr const char* kSqueueFormat = "%F|%K|%j|%T|%N|%r";
engine::Result<SlurmTaskStates> readSqueueAnswer(std::string_view text, const std::string& prefix);

/// What to ask of sacct, and its answer. Tasks that wait together have no line of their own yet and
/// are left out. Errors: CorruptFile.
inline constexpr const char* kSacctFormat = "JobID,JobName,State,NodeList,ExitCode";
engine::Result<SlurmTaskStates> readSacctAnswer(std::string_view text, const std::string& prefix);

/// The first sentence of what a command has said, fit for a message; "nothing" if it was silent.
std::string slurmSaid(std::string_view errors);

} // namespace app
