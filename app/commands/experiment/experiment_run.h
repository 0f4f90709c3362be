// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/experiment/executor.h"
#include "app/streams/console.h"
#include "engine/base/forward_clock.h"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>

namespace app {

/// Leads a run: stage after stage, all shards that are not finished, then the report; result.json
/// is renewed meanwhile. It tells on the console what happens.
class ExperimentRun {
public:
    /// All must outlive it.
    ExperimentRun(const engine::RunFolder& folder, const Console& console, RunPause& pause)
        : m_folder(folder)
        , m_console(console)
        , m_pause(pause) {}

    /// What the local executor takes down.
    void tell(const engine::ShardRecord& record);

    /// Errors: InvalidInput if another process leads the run, or another build began it; those of
    /// the executor; the first shard's that could not be finished, behind all others.
    engine::Result<void> run(Executor& executor, const std::stop_token& stop);

    /// One shard alone, without leading the run. Errors: those of the shard.
    engine::Result<void> runOne(Executor& executor, int shard, const std::stop_token& stop);

private:
    static constexpr std::chrono::seconds kBetweenMerges{5};

    engine::Result<void> runStages(Executor& executor, const std::stop_token& stop);
    void mergeSoFar();
    std::vector<int> unfinished(const std::string& stage);
    ExecutorReports reports();
    void tell(const engine::ShardAnswer& answer);
    void tell(const engine::ShardState& state);
    void showStatus(const std::string& what);
    void note(const std::string& sentence);

    const engine::RunFolder& m_folder;
    const Console& m_console;
    RunPause& m_pause;
    StatusLine m_status;
    std::size_t m_finished = 0; // shards
    std::set<int> m_failed;     // shards
    long m_answers = 0;         // this and the next ones: of this process
    long m_draws = 0;
    long m_trials = 0;
    std::optional<engine::Error> m_failure;
    engine::ForwardClock::time_point m_nextMerge = engine::ForwardClock::now() + kBetweenMerges;
};

} // namespace app
