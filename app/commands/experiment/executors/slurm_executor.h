// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/experiment/executor.h"
#include "app/commands/experiment/executors/slurm_commands.h"

#include <memory>

namespace app {

/// Whether a run could be begun with these options. Errors: InvalidInput for wrong ones; NotFound
/// if Slurm is not installed here.
engine::Result<void> checkSlurm(const SlurmOptions& options);

/// Runs shards as job arrays of Slurm, each `swift-run experiment --run-part` on some node. The
/// nodes see the run folder, the model and this program under the same paths. A shard counts as
/// finished when its file lies in the run folder, whatever Slurm says; one that ended without it is
/// submitted again, up to `options.attempts` times. What Slurm has is kept in executor.json
/// (engine/experiments/run/executor_state.h): a later process takes over the jobs that are still
/// queued or running. A pause holds what is queued; a stop cancels all jobs. `folder` must outlive
/// it. Its run() also has the errors NotFound, if Slurm is not installed, and CorruptFile, if Slurm
/// answers in a form that is not known. Errors: InvalidInput for wrong options.
engine::Result<std::unique_ptr<Executor>> makeSlurmExecutor(const engine::RunFolder& folder,
                                                            const SlurmOptions& options);

} // namespace app
