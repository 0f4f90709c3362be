// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/executors/slurm_stage.h"

#include "app/streams/counted.h"

#include <algorithm>
#include <chrono>

namespace app {

using namespace engine;

namespace {

/// So many questions in a row may stay unanswered, or submissions be refused: with 5 s between
/// them and 10 s until Slurm's commands give up, a quarter of an hour.
constexpr int kMostFailures = 60;

void waitFor(double seconds, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
}

} // namespace

Result<void> SlurmStage::run(const RunPause& pause, const std::stop_token& stop) {
    ENGINE_TRY(const SlurmTaskStates known, m_commands.queue(m_families));
    collect();
    m_board.adopt(known);
    m_hasJobs = !m_board.liveJobs().empty();
    // A process that was killed while it was paused has left them so.
    m_isHeld = std::ranges::any_of(m_board.allNotes(), [](const ExecutorShard& notes) {
        return notes.phase == ExecutorPhase::Queued && notes.reason.starts_with("JobHeld");
    });
    while (true) {
        holdIfPaused(pause.isPaused());
        if (!pause.isPaused())
            ENGINE_TRY_DO(submit());
        ENGINE_TRY_DO(show());
        if (m_board.isDone())
            return {};
        waitFor(m_options.pollSeconds, stop);
        if (stop.stop_requested())
            return cancel();
        ENGINE_TRY_DO(look());
    }
}

/// Finds what is finished: its file is the only proof.
void SlurmStage::collect() {
    for (const ExecutorShard& notes : m_board.allNotes())
        if (notes.phase != ExecutorPhase::Finished &&
            m_folder.state(notes.shard).phase == ShardPhase::Finished)
            m_board.finish(notes.shard);
}

Result<void> SlurmStage::submit() {
    // Slurm throttles every array by itself: of two, twice as many tasks would run.
    const bool isOneByOne = m_options.throttle > 0;
    if (isOneByOne && !m_board.liveJobs().empty())
        return {};
    std::map<int, std::set<int>> families;
    for (const int shard : m_board.missing())
        // A process that Slurm does not know of may still be at work on it.
        if (m_folder.state(shard).phase != ShardPhase::Running)
            families[shard / kSlurmFamily].insert(shard);
    for (const auto& [family, shards] : families) {
        ENGINE_TRY(const auto script, m_files.writeScript(family));
        std::set<int> indexes;
        for (const int shard : shards)
            indexes.insert(shard % kSlurmFamily);
        const auto job =
            m_commands.submit(m_options, script, m_files.logPattern(), family, indexes);
        if (!job && !m_hasJobs)
            return job.error();
        if (!job)
            return fail(job.error());
        m_hasJobs = true;
        m_board.submit(job.value(), shards);
        m_failures = 0;
        if (isOneByOne)
            break;
    }
    return {};
}

/// Slurm did not do as asked. That passes: the run waits, but not for ever.
Result<void> SlurmStage::fail(const Error& error) {
    if (++m_failures == 1)
        m_reports.onNote(error.message + " Parts that run go on, and this run waits.");
    if (m_failures < kMostFailures)
        return {};
    return Error{error.code,
                 fmt::format("Slurm has refused or not answered {} times in a row; the last time: "
                             "{}",
                             m_failures,
                             error.message),
                 "What is finished is kept; go on with --resume when Slurm answers again."};
}

Result<void> SlurmStage::look() {
    auto states = m_commands.queue(m_families);
    if (!states) {
        // The accounts have a server of their own, which may still answer.
        const auto accounts = m_commands.accounts(m_board.liveJobs());
        collect();
        if (accounts)
            for (const int shard : m_board.observe(accounts.value(), false))
                explain(shard, accounts.value());
        return fail(states.error());
    }
    // Slurm forgets what has ended after some minutes, the accounts do not.
    if (const auto jobs = m_board.liveJobs(states.value()); !jobs.empty())
        if (const auto accounts = m_commands.accounts(jobs))
            for (const auto& [task, state] : accounts.value())
                if (state.phase == SlurmPhase::Completed || state.phase == SlurmPhase::Ended)
                    states.value().emplace(task, state);
    // Behind the question: what had ended by then has left its file.
    collect();
    for (const int shard : m_board.observe(states.value(), true))
        explain(shard, states.value());
    if (m_failures > 0 && m_board.missing().empty()) {
        m_failures = 0;
        m_reports.onNote("Slurm answers again.");
    }
    return {};
}

/// Says why a shard is run again or given up.
void SlurmStage::explain(int shard, const SlurmTaskStates& states) {
    const SlurmTask task = m_board.task(shard);
    const auto state = states.find(task);
    const bool hasBegun = state != states.end() && !state->second.node.empty();
    const auto words = m_files.lastWords(task.job, task.index);
    if (words && !words->empty())
        m_board.addToEnd(shard, fmt::format(", and its log ends with \"{}\"", *words));
    else if (!words && hasBegun)
        m_board.addToEnd(shard,
                         fmt::format(", and it left no log: does that node see the folder {}?",
                                     m_files.runFolder().string()));
    const ExecutorShard& notes = m_board.notes(shard);
    if (notes.phase == ExecutorPhase::GivenUp)
        m_reports.onFailure(
            shard,
            {ErrorCode::Io,
             fmt::format("The cluster has ended part {} without a result {}; the last time: {}.",
                         shard + 1,
                         counted(notes.attempts, "time"),
                         notes.ended),
             "Mend the cause, then go on with --resume: what is finished is kept."});
    else
        m_reports.onNote(fmt::format(
            "Part {} is run again, because it ended like this: {}.", shard + 1, notes.ended));
}

void SlurmStage::holdIfPaused(bool isPaused) {
    if (isPaused == m_isHeld)
        return;
    m_isHeld = isPaused;
    const auto tasks = m_board.queuedTasks();
    if (tasks.empty())
        return;
    const auto done = isPaused ? m_commands.hold(tasks) : m_commands.release(tasks);
    if (!done)
        m_reports.onNote(done.error().message);
}

/// Tells what has changed, and keeps it in the run folder.
Result<void> SlurmStage::show() {
    bool hasChanged = false;
    for (const ExecutorShard& notes : m_board.allNotes()) {
        auto kept =
            std::ranges::lower_bound(m_state.shards, notes.shard, {}, &ExecutorShard::shard);
        const bool isKnown = kept != m_state.shards.end() && kept->shard == notes.shard;
        if (isKnown && *kept == notes)
            continue;
        hasChanged = true;
        const ShardPhase phase = shownPhase(notes);
        const bool isNewPhase = !isKnown || shownPhase(*kept) != phase;
        if (isKnown)
            *kept = notes;
        else
            m_state.shards.insert(kept, notes);
        if (isNewPhase)
            m_reports.onState({.shard = notes.shard,
                               .phase = phase,
                               .problem = phase == ShardPhase::Failed ? notes.ended : ""});
    }
    return hasChanged ? saveExecutorState(m_folder.path(), m_state) : Result<void>();
}

Error SlurmStage::cancel() {
    bool goesOn = false;
    if (const auto jobs = m_board.liveJobs(); !jobs.empty()) {
        const auto done = m_commands.cancel(jobs);
        goesOn = !done;
        if (goesOn)
            m_reports.onNote(done.error().message +
                             " Its jobs go on, and --resume takes them over.");
        else
            m_board.takeBack();
    }
    if (const auto shown = show(); !shown)
        return shown.error();
    return {ErrorCode::Cancelled,
            fmt::format("The run was stopped; its jobs {}.",
                        goesOn ? "could not be cancelled and go on" : "are cancelled"),
            "Go on with --resume: what is finished is kept."};
}

} // namespace app
