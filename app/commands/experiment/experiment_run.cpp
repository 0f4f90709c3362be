// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/experiment_run.h"

#include "app/commands/experiment/run_report.h"
#include "app/commands/options/text_options.h"
#include "app/streams/counted.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <variant>

namespace app {

using namespace engine;

namespace {

using EventJson = nlohmann::ordered_json;

constexpr int kMergeShare = 20;

const PlannedShard& planned(const RunFolder& folder, int shard) {
    return folder.plan().shards[static_cast<std::size_t>(shard)];
}

} // namespace

void ExperimentRun::note(const std::string& sentence) {
    m_status.clear();
    Console::note(sentence);
    m_console.jsonLine({{"event", "remark"}, {"message", sentence}});
}

/// How far the run is, and `what` it is at.
void ExperimentRun::showStatus(const std::string& what) {
    std::string text =
        fmt::format("{} of {}", m_finished, counted(m_folder.plan().shards.size(), "part"));
    if (!m_failed.empty())
        text += fmt::format(", {} failed", m_failed.size());
    text += "; " + counted(m_answers, "answer");
    if (m_draws > 0)
        text += ", " + counted(m_draws, "sample");
    if (m_trials > 0)
        text += ", " + counted(m_trials, "set") + " tried";
    m_status.show(text + ", " + what);
}

void ExperimentRun::tell(const ShardRecord& record) {
    if (const auto* answer = std::get_if<ShardAnswer>(&record)) {
        tell(*answer);
    } else if (const auto* draw = std::get_if<ShardDraw>(&record)) {
        ++m_draws;
        showStatus(draw->variant);
    } else if (const auto* trial = std::get_if<ShardTrial>(&record)) {
        ++m_trials;
        showStatus(trial->variant + " " + trial->task);
    }
}

void ExperimentRun::tell(const ShardAnswer& answer) {
    ++m_answers;
    showStatus(answer.variant + " " + answer.task);
    EventJson equal; // null for vanilla
    if (answer.isEqual)
        equal = *answer.isEqual;
    m_console.jsonLine({{"event", "answer"},
                        {"variant", answer.variant},
                        {"task", answer.task},
                        {"prompt", answer.prompt},
                        {"pass", answer.pass},
                        {"tokens", answer.tokens},
                        {"decode_ms", answer.decodeMs},
                        {"equal", std::move(equal)}});
    if (m_folder.recipe().isStream)
        mergeSoFar();
}

void ExperimentRun::tell(const ShardState& state) {
    if (state.phase == ShardPhase::Failed)
        m_failed.insert(state.shard);
    else
        m_failed.erase(state.shard);
    if (state.phase == ShardPhase::Finished) {
        ++m_finished;
        mergeSoFar();
    }
    const PlannedShard& shard = planned(m_folder, state.shard);
    m_console.jsonLine(
        {{"event", "shard"},
         {"shard", state.shard},
         {"phase", shardPhaseName(state.phase)},
         {"stage", shard.stage},
         {"task", shard.task ? EventJson(*shard.task) : EventJson()},
         {"seed", shard.seed},
         {"finished", m_finished},
         {"shards", m_folder.plan().shards.size()},
         {"failed", m_failed.size()},
         {"problem", state.problem.empty() ? EventJson() : EventJson(state.problem)}});
}

ExecutorReports ExperimentRun::reports() {
    return {.onState = [this](const ShardState& state) { tell(state); },
            .onNote = [this](const std::string& sentence) { note(sentence); },
            .onFailure =
                [this](int shard, const Error& error) {
                    note(
                        fmt::format("Part {} could not be finished: {}", shard + 1, error.message));
                    if (!m_failure)
                        m_failure = error;
                }};
}

/// Those that can be run now. A damaged one is named and run again.
std::vector<int> ExperimentRun::unfinished(const std::string& stage) {
    std::vector<int> shards;
    for (const PlannedShard& shard : m_folder.plan().shards) {
        if (shard.stage != stage)
            continue;
        const ShardState state = m_folder.state(shard.index);
        if (state.phase == ShardPhase::Finished)
            ++m_finished;
        else if (!m_folder.isReady(shard.index))
            note(fmt::format("Part {} is left out: a part whose skip set it needs is not "
                             "finished.",
                             shard.index + 1));
        else
            shards.push_back(shard.index);
        if (state.phase == ShardPhase::Damaged)
            note(fmt::format("Part {} is run again: {}", shard.index + 1, state.problem));
    }
    return shards;
}

Result<void> ExperimentRun::runOne(Executor& executor, int shard, const std::stop_token& stop) {
    ENGINE_TRY_DO(executor.run({shard}, reports(), m_pause, stop));
    if (m_failure)
        return *m_failure;
    return {};
}

Result<void> ExperimentRun::run(Executor& executor, const std::stop_token& stop) {
    ENGINE_TRY(const FileLock lead, m_folder.lead());
    const auto ended = runStages(executor, stop);
    m_status.clear();
    m_console.jsonLine({{"event", "done"},
                        {"finished", m_finished},
                        {"shards", m_folder.plan().shards.size()},
                        {"failed", m_failed.size()}});
    if (m_finished > 0 || (m_folder.recipe().isStream && m_answers > 0))
        if (auto reported = reportRun(m_folder, m_console); !reported && ended)
            return reported;
    if (!ended)
        return ended;
    if (m_failure)
        return *m_failure;
    if (m_finished < m_folder.plan().shards.size())
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The run in {} has finished {} of {}.",
                                 m_folder.path().string(),
                                 m_finished,
                                 counted(m_folder.plan().shards.size(), "part")),
                     "Run the others with --resume."};
    return {};
}

Result<void> ExperimentRun::runStages(Executor& executor, const std::stop_token& stop) {
    for (const RecipeStage& stage : m_folder.recipe().stages) {
        const std::vector<int> shards = unfinished(stage.name);
        if (!shards.empty())
            ENGINE_TRY_DO(executor.run(shards, reports(), m_pause, stop));
        if (stop.stop_requested())
            return cancelledError();
    }
    return {};
}

/// result.json as it is so far, for those who watch. It reads all shards, so it is made every few
/// seconds at most, and in a twentieth of the time at most.
void ExperimentRun::mergeSoFar() {
    const auto now = ForwardClock::now();
    if (now < m_nextMerge)
        return;
    if (const auto merged = mergeRun(m_folder); !merged)
        note(merged.error().message);
    const auto end = ForwardClock::now();
    m_nextMerge = end + std::max<ForwardClock::duration>(kBetweenMerges, kMergeShare * (end - now));
}

} // namespace app
