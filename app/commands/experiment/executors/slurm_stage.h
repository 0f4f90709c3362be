// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/experiment/executor.h"
#include "app/commands/experiment/executors/slurm_board.h"
#include "app/commands/experiment/executors/slurm_commands.h"
#include "app/commands/experiment/executors/slurm_files.h"
#include "engine/experiments/run/executor_state.h"

namespace app {

/// The shards of one stage at work on a cluster: submits what is missing, asks Slurm, tells what
/// has changed and keeps it in the run folder. The folder, options and reports must outlive it.
/// Thread: one.
class SlurmStage {
public:
    SlurmStage(const engine::RunFolder& folder,
               const SlurmOptions& options,
               SlurmCommands commands,
               SlurmFiles files,
               engine::ExecutorState state,
               SlurmBoard board,
               const ExecutorReports& reports)
        : m_folder(folder)
        , m_options(options)
        , m_commands(std::move(commands))
        , m_files(std::move(files))
        , m_state(std::move(state))
        , m_board(std::move(board))
        , m_reports(reports)
        , m_families(static_cast<int>(folder.plan().shards.size()) / kSlurmFamily + 1) {}

    /// As Executor::run.
    engine::Result<void> run(const RunPause& pause, const std::stop_token& stop);

private:
    void collect();
    engine::Result<void> submit();
    engine::Result<void> look();
    engine::Result<void> fail(const engine::Error& error);
    void explain(int shard, const SlurmTaskStates& states);
    void holdIfPaused(bool isPaused);
    engine::Result<void> show();
    engine::Error cancel();

    const engine::RunFolder& m_folder;
    const SlurmOptions& m_options;
    SlurmCommands m_commands;
    SlurmFiles m_files;
    engine::ExecutorState m_state; // as in the file, ascending by shard
    SlurmBoard m_board;
    const ExecutorReports& m_reports;
    int m_families;
    bool m_isHeld = false;
    bool m_hasJobs = false;
    int m_failures = 0; // questions and submissions in a row that Slurm did not take
};

} // namespace app
