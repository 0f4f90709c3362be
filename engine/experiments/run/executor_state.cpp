// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/run/executor_state.h"

#include "engine/experiments/json/member_json.h"
#include "engine/loading/files/atomic_file.h"

#include <array>

namespace engine {

namespace {

constexpr std::array kExecutorPhases = {ExecutorPhase::Waiting,
                                        ExecutorPhase::Queued,
                                        ExecutorPhase::Running,
                                        ExecutorPhase::Finished,
                                        ExecutorPhase::GivenUp};

} // namespace

template <typename V> void visitMembers(V& visit, ExecutorShard& shard) {
    visit("shard", shard.shard);
    std::string word(executorPhaseName(shard.phase));
    visit("phase", word);
    for (const ExecutorPhase phase : kExecutorPhases) // an unknown word leaves it waiting
        if (executorPhaseName(phase) == word)
            shard.phase = phase;
    visit("attempts", shard.attempts);
    visit("place", shard.place);
    visit("reason", shard.reason);
    visit("ended", shard.ended);
}

template <typename V> void visitMembers(V& visit, ExecutorState& state) {
    visit("executor", state.executor);
    visit("id", state.id);
    visit("shards", state.shards);
}

std::string_view executorPhaseName(ExecutorPhase phase) {
    switch (phase) {
    case ExecutorPhase::Waiting:
        return "waiting";
    case ExecutorPhase::Queued:
        return "queued";
    case ExecutorPhase::Running:
        return "running";
    case ExecutorPhase::Finished:
        return "finished";
    case ExecutorPhase::GivenUp:
        return "given_up";
    }
    return "";
}

ShardPhase shownPhase(const ExecutorShard& shard) {
    switch (shard.phase) {
    case ExecutorPhase::Running:
        return ShardPhase::Running;
    case ExecutorPhase::Finished:
        return ShardPhase::Finished;
    case ExecutorPhase::GivenUp:
        return ShardPhase::Failed;
    case ExecutorPhase::Waiting:
    case ExecutorPhase::Queued:
        break;
    }
    return shard.ended.empty() ? ShardPhase::Waiting : ShardPhase::Failed;
}

Result<void> saveExecutorState(const std::filesystem::path& folder, const ExecutorState& state) {
    return writeFileAtomically(folder / kExecutorName, membersJson(state, 1) + "\n");
}

Result<std::optional<ExecutorState>> loadExecutorState(const std::filesystem::path& folder) {
    const std::string file = (folder / kExecutorName).string();
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored))
        return std::optional<ExecutorState>();
    ENGINE_TRY(const JsonDocument document, readJsonFile(file));
    ENGINE_TRY(ExecutorState state, readMembers<ExecutorState>(document.root(), file));
    return std::optional(std::move(state));
}

} // namespace engine
