// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/experiments/run/run_folder.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

// What an executor that hands shards to other machines knows about them: plain values, kept in the
// run folder, so that whoever looks there sees it, and a later process finds its jobs again. The
// truth about a finished shard is its own file.

inline constexpr const char* kExecutorName = "executor.json";

enum class ExecutorPhase {
    Waiting, ///< not handed over, or to be handed over again
    Queued,  ///< handed over; it waits for a machine
    Running,
    Finished,
    GivenUp, ///< it failed too often; --resume tries it again
};

std::string_view executorPhaseName(ExecutorPhase phase); ///< "waiting", "queued", ..., "given_up"

struct ExecutorShard {
    int shard = 0;
    ExecutorPhase phase = ExecutorPhase::Waiting;
    int attempts = 0;        ///< how often it was handed over
    std::string place = {};  ///< "job 12_3 on node7"; empty = nowhere
    std::string reason = {}; ///< why it waits, as the executor was told; may be empty
    std::string ended = {};  ///< how its last attempt ended without a result; empty = none has

    bool operator==(const ExecutorShard&) const = default;
};

/// What those who watch the run see: Failed from the end of an attempt without a result until the
/// next one runs.
ShardPhase shownPhase(const ExecutorShard& shard);

struct ExecutorState {
    std::string executor; ///< "slurm"
    std::string id;       ///< hex digits by which this folder's jobs are known
    std::vector<ExecutorShard> shards;

    bool operator==(const ExecutorState&) const = default;
};

/// Replaces the file of a run folder as a whole. Errors: Io. Thread: the one that leads the run.
Result<void> saveExecutorState(const std::filesystem::path& folder, const ExecutorState& state);

/// None if no such executor has worked on the folder. Errors: Io, CorruptFile. Thread: any.
Result<std::optional<ExecutorState>> loadExecutorState(const std::filesystem::path& folder);

} // namespace engine
