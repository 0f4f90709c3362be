// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/locks/file_lock.h"
#include "engine/experiments/data/data_record.h"
#include "engine/experiments/run/part_journal.h"
#include "engine/experiments/run/run_plan.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace engine {

enum class ShardPhase {
    Waiting, ///< not begun, or stopped before its end
    Running, ///< a process works on it at this moment
    Finished,
    Damaged, ///< its file cannot be read; it is run again
    Failed,  ///< it ended without a result, and has not been begun again
};

std::string_view shardPhaseName(ShardPhase phase); ///< "waiting", "running", ...

struct ShardState {
    int shard = 0;
    ShardPhase phase = ShardPhase::Waiting;
    std::string problem = {}; ///< of a damaged or failed one: a sentence
};

/// The folder of one run: recipe, plan, prompts, and the shards that are done. Several processes
/// and machines may work on the shards of one folder; one leads the run. Everything is written
/// atomically. Thread: reads any, otherwise one.
class RunFolder {
public:
    /// Makes the folder and writes what a run needs, the plan last, under the lock of the run. A
    /// folder that exists must be empty, or hold what is left of a run alone; with `mayOverwrite`
    /// an earlier run in it is deleted first, nothing else: a folder whose plan is none of ours is
    /// left alone. Errors: InvalidInput, also for a prompt of more than 16 MB of JSON; Io.
    static Result<RunFolder> create(const std::filesystem::path& path,
                                    const Recipe& recipe,
                                    const RunPlan& plan,
                                    const std::vector<DataRecord>& prompts,
                                    bool mayOverwrite);

    /// Errors: NotFound for a folder without a run; Io; CorruptFile for a damaged plan or recipe,
    /// and for prompts that are not the plan's.
    static Result<RunFolder> open(const std::filesystem::path& path);

    /// Keeps where the files of the models are now, [models]; nothing else of the run changes.
    /// Errors: InvalidInput if another process leads it; Io.
    Result<void> moveModels(const std::vector<std::string>& paths);

    /// Whether a folder holds a run.
    static bool isRun(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return m_path; }

    const Recipe& recipe() const { return m_recipe; }

    const RunPlan& plan() const { return m_plan; }

    /// Those of data.jsonl, in order.
    const std::vector<DataRecord>& prompts() const { return m_prompts; }

    /// To lead the run. Errors: InvalidInput if another process does; Io.
    Result<FileLock> lead() const;

    bool isLed() const { return FileLock::isHeld(m_path / "lock"); }

    /// To run a shard; none if another process does. Errors: Io.
    Result<std::optional<FileLock>> claim(int shard) const;

    std::vector<ShardState> states() const; ///< [shards]
    ShardState state(int shard) const;

    /// Of a shard that is known not to be finished. `damage`: what is wrong with its file, if it
    /// has one.
    ShardState unfinishedState(int shard, const std::string& damage = {}) const;

    /// Whether all shards whose sets it needs are finished.
    bool isReady(int shard) const;

    /// A finished shard. Errors: NotFound if it is not finished; CorruptFile, also for a shard of
    /// another run and for a record of a prompt that this one has not.
    Result<ShardResult> result(int shard) const;

    /// What a stream that is not finished has measured so far: the prompts that are done, without
    /// the facts of the machine. A line that cannot be read ends it. Errors: Io.
    Result<ShardResult> resultSoFar(int shard) const;

    /// Begins a shard's part file anew. Errors: Io.
    Result<PartJournal> begin(int shard) const;

    /// Goes on behind the last prompt that all variants have answered, or that was left out; what
    /// comes after it is cut off, and so is everything behind a line that cannot be read. `done`
    /// gets the records before, `damage` the number of that line and what is wrong with it. Errors:
    /// Io.
    Result<PartJournal>
    goOn(int shard, std::vector<ShardRecord>& done, std::string* damage = nullptr) const;

    /// The shard is finished: its file appears as a whole and its part file goes. Errors: Io.
    Result<void> finish(const ShardResult& result) const;

    /// The shard could not be finished: keeps the reason until it is begun again. Errors: Io.
    Result<void> fail(int shard, const std::string& reason) const;

    /// What a shard at work has written, see readPart(). Errors: Io, CorruptFile.
    Result<PartProgress> progress(int shard, std::uint64_t from) const {
        return readPart(partFile(shard), from, m_prompts.size());
    }

    std::filesystem::path shardFile(int shard) const;
    std::filesystem::path partFile(int shard) const;

private:
    Result<std::uint64_t>
    readDone(int shard, std::vector<ShardRecord>& done, std::string* damage = nullptr) const;
    std::filesystem::path failureFile(int shard) const;
    void forgetFailure(int shard) const;

    std::filesystem::path m_path;
    Recipe m_recipe;
    RunPlan m_plan;
    std::vector<DataRecord> m_prompts;
};

/// One line of data.jsonl, without its end.
std::string promptJson(const DataRecord& record);

/// The run hash of a plan: over recipe, prompts, models and their draft adapters, not over paths
/// and threads.
std::string runHashOf(const Recipe& recipe,
                      const std::vector<DataRecord>& prompts,
                      const std::vector<RunModel>& models);

} // namespace engine
