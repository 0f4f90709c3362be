// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/executors/slurm_board.h"

#include <algorithm>

namespace app {

using namespace engine;

namespace {

/// Slurm forgets a task that was cancelled before it began, accounts lag behind, and so does a
/// shared folder: only after so many answers in a row a shard counts as gone.
constexpr int kPatience = 6;

std::string endText(const SlurmTaskState& state) {
    std::string text = state.word;
    if (!state.reason.empty())
        text += fmt::format(" ({})", state.reason);
    if (!state.node.empty())
        text += " on " + state.node;
    return text;
}

} // namespace

SlurmBoard::SlurmBoard(const std::vector<int>& shards, int attempts)
    : m_attempts(attempts) {
    for (const int shard : std::set<int>(shards.begin(), shards.end()))
        m_entries.push_back({.notes = {.shard = shard}});
}

const SlurmBoard::Entry* SlurmBoard::find(int shard) const {
    const auto found = std::ranges::lower_bound(
        m_entries, shard, {}, [](const Entry& entry) { return entry.notes.shard; });
    return found != m_entries.end() && found->notes.shard == shard ? &*found : nullptr;
}

const SlurmBoard::Entry& SlurmBoard::entry(int shard) const {
    const Entry* found = find(shard);
    ENGINE_CHECK(found, "shard {} is not of this stage", shard);
    return *found;
}

SlurmBoard::Entry& SlurmBoard::entry(int shard) {
    return const_cast<Entry&>(std::as_const(*this).entry(shard));
}

bool SlurmBoard::isLive(const Entry& entry) {
    return entry.notes.phase == ExecutorPhase::Queued ||
           entry.notes.phase == ExecutorPhase::Running;
}

void SlurmBoard::place(Entry& entry, const SlurmTaskState& state) {
    const bool isQueued = state.phase == SlurmPhase::Queued;
    entry.notes.phase = isQueued ? ExecutorPhase::Queued : ExecutorPhase::Running;
    entry.notes.place = fmt::format("job {}_{}", entry.task.job, entry.task.index);
    if (!state.node.empty())
        entry.notes.place += " on " + state.node;
    entry.notes.reason = isQueued ? state.reason : std::string();
    entry.silentTimes = 0;
}

void SlurmBoard::adopt(const SlurmTaskStates& states) {
    for (const auto& [task, state] : states) {
        const int shard = task.family * kSlurmFamily + task.index;
        const Entry* known = find(shard);
        if (!known || known->notes.phase == ExecutorPhase::Finished ||
            state.phase == SlurmPhase::Completed || state.phase == SlurmPhase::Ended)
            continue;
        Entry& adopted = entry(shard);
        adopted.task = task;
        adopted.notes.attempts = 1;
        place(adopted, state);
    }
}

void SlurmBoard::finish(int shard) {
    Entry& finished = entry(shard);
    finished.notes.phase = ExecutorPhase::Finished;
    finished.notes.reason.clear();
}

std::set<int> SlurmBoard::missing() const {
    std::set<int> shards;
    for (const Entry& entry : m_entries)
        if (entry.notes.phase == ExecutorPhase::Waiting)
            shards.insert(entry.notes.shard);
    return shards;
}

void SlurmBoard::submit(long job, const std::set<int>& shards) {
    for (const int shard : shards) {
        Entry& submitted = entry(shard);
        submitted.task = {job, shard % kSlurmFamily, shard / kSlurmFamily};
        ++submitted.notes.attempts;
        place(submitted, {.phase = SlurmPhase::Queued, .word = "PENDING"});
    }
}

void SlurmBoard::end(Entry& entry, const std::string& reason) {
    const bool isGivenUp = entry.notes.attempts >= m_attempts;
    entry.notes.phase = isGivenUp ? ExecutorPhase::GivenUp : ExecutorPhase::Waiting;
    entry.notes.reason.clear();
    entry.notes.ended = reason;
    entry.silentTimes = 0;
}

std::vector<int> SlurmBoard::observe(const SlurmTaskStates& states, bool isWhole) {
    std::vector<int> ended;
    for (Entry& entry : m_entries) {
        if (!isLive(entry))
            continue;
        const auto found = states.find(entry.task);
        if (found == states.end()) {
            entry.silentTimes += isWhole ? 1 : 0;
            if (entry.silentTimes < kPatience)
                continue;
            end(entry, "Slurm no longer knows it");
        } else if (found->second.phase == SlurmPhase::Completed) {
            if (++entry.silentTimes < kPatience)
                continue;
            end(entry,
                endText(found->second) + ", but its result did not arrive in the run's folder");
        } else if (found->second.phase == SlurmPhase::Ended) {
            end(entry, endText(found->second));
        } else {
            place(entry, found->second);
            continue;
        }
        ended.push_back(entry.notes.shard);
    }
    return ended;
}

void SlurmBoard::takeBack() {
    for (Entry& entry : m_entries)
        if (isLive(entry)) {
            entry.notes.phase = ExecutorPhase::Waiting;
            entry.notes.reason = "cancelled";
        }
}

void SlurmBoard::addToEnd(int shard, const std::string& more) { entry(shard).notes.ended += more; }

std::set<long> SlurmBoard::liveJobs(const SlurmTaskStates& known) const {
    std::set<long> jobs;
    for (const Entry& entry : m_entries)
        if (isLive(entry) && !known.contains(entry.task))
            jobs.insert(entry.task.job);
    return jobs;
}

std::vector<SlurmTask> SlurmBoard::queuedTasks() const {
    std::vector<SlurmTask> tasks;
    for (const Entry& entry : m_entries)
        if (entry.notes.phase == ExecutorPhase::Queued)
            tasks.push_back(entry.task);
    return tasks;
}

std::vector<ExecutorShard> SlurmBoard::allNotes() const {
    std::vector<ExecutorShard> notes;
    for (const Entry& entry : m_entries)
        notes.push_back(entry.notes);
    return notes;
}

bool SlurmBoard::isDone() const {
    return std::ranges::all_of(m_entries, [](const Entry& entry) {
        return entry.notes.phase == ExecutorPhase::Finished ||
               entry.notes.phase == ExecutorPhase::GivenUp;
    });
}

} // namespace app
