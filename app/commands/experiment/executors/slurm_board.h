// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/experiment/executors/slurm_output.h"
#include "engine/experiments/run/executor_state.h"

#include <set>
#include <string>
#include <vector>

namespace app {

/// Shards in one job array: with 1,001 tasks, as most installations allow, the last index is 1000.
inline constexpr int kSlurmFamily = 1000;

/// What is known about the shards of one stage: which wait, which Slurm has, which ended without a
/// result. It decides what is submitted, and how often. Thread: one.
class SlurmBoard {
public:
    /// `attempts`: how often a shard is submitted at most.
    SlurmBoard(const std::vector<int>& shards, int attempts);

    /// Takes over shards that an earlier process has submitted and that are queued or running.
    void adopt(const SlurmTaskStates& states);

    /// The shard's result is there.
    void finish(int shard);

    /// The shards that must be submitted now.
    std::set<int> missing() const;

    /// They were submitted as tasks of this job.
    void submit(long job, const std::set<int>& shards);

    /// Slurm's answer; call finish() for what is finished first. `isWhole`: a task that is not in
    /// it is gone. Returns the shards that have ended without a result.
    std::vector<int> observe(const SlurmTaskStates& states, bool isWhole);

    /// The jobs have been cancelled: whatever is not finished waits.
    void takeBack();

    /// More about how a shard has ended.
    void addToEnd(int shard, const std::string& more);

    /// The jobs with tasks that are queued or running; without those that `known` has.
    std::set<long> liveJobs(const SlurmTaskStates& known = {}) const;

    /// The tasks that wait for a machine.
    std::vector<SlurmTask> queuedTasks() const;

    /// Of a shard that was submitted.
    SlurmTask task(int shard) const { return entry(shard).task; }

    const engine::ExecutorShard& notes(int shard) const { return entry(shard).notes; }

    std::vector<engine::ExecutorShard> allNotes() const;

    /// Whether every shard is finished or given up.
    bool isDone() const;

private:
    struct Entry {
        engine::ExecutorShard notes;
        SlurmTask task = {};
        int silentTimes = 0; ///< answers in a row that knew nothing of it, or no result
    };

    const Entry* find(int shard) const; // null: not of this stage
    Entry& entry(int shard);
    const Entry& entry(int shard) const;
    static bool isLive(const Entry& entry);
    void place(Entry& entry, const SlurmTaskState& state);
    void end(Entry& entry, const std::string& reason);

    std::vector<Entry> m_entries; // ascending by shard
    int m_attempts;
};

} // namespace app
