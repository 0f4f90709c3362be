// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/executors/slurm_executor.h"

#include "app/commands/experiment/executors/slurm_board.h"
#include "app/commands/experiment/executors/slurm_files.h"
#include "engine/experiments/run/executor_state.h"

#include <algorithm>
#include <chrono>
#include <random>

namespace app {

using namespace engine;

namespace {

/// So many questions in a row may stay unanswered, or submissions be refused: with 5 s between
/// them and 10 s until Slurm's commands give up, half an hour.
constexpr int kMostFailures = 120;

ShardPhase shownPhase(ExecutorPhase phase) {
    switch (phase) {
    case ExecutorPhase::Running:
        return ShardPhase::Running;
    case ExecutorPhase::Finished:
        return ShardPhase::Finished;
    default:
        return ShardPhase::Waiting;
    }
}

class SlurmExecutor final : public Executor {
public:
    SlurmExecutor(const RunFolder& folder,
                  SlurmOptions options,
                  SlurmCommands commands,
                  SlurmFiles files,
                  ExecutorState state)
        : m_folder(folder)
        , m_options(std::move(options))
        , m_commands(std::move(commands))
        , m_files(std::move(files))
        , m_state(std::move(state))
        , m_families(static_cast<int>(folder.plan().shards.size()) / kSlurmFamily + 1) {}

    Result<void> run(const std::vector<int>& shards,
                     const ExecutorReports& reports,
                     RunPause& pause,
                     const std::stop_token& stop) override;

private:
    /// One stage at work.
    struct Stage {
        SlurmBoard board;
        const ExecutorReports& reports;
        bool isHeld = false;
        int failures = 0; ///< questions and submissions in a row that Slurm did not take
        bool hasJobs = false;
    };

    void collect(Stage& stage) const;
    Result<void> submit(Stage& stage) const;
    Result<void> look(Stage& stage) const;
    Result<void> fail(Stage& stage, const Error& error) const;
    void explain(Stage& stage, int shard, const SlurmTaskStates& states) const;
    void holdIfPaused(Stage& stage, bool isPaused) const;
    Result<void> show(Stage& stage);
    Error cancel(Stage& stage);

    const RunFolder& m_folder;
    SlurmOptions m_options;
    SlurmCommands m_commands;
    SlurmFiles m_files;
    ExecutorState m_state; // as in the file
    int m_families;
};

void waitFor(double seconds, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
}

Result<void> SlurmExecutor::run(const std::vector<int>& shards,
                                const ExecutorReports& reports,
                                RunPause& pause,
                                const std::stop_token& stop) {
    Stage stage{.board = SlurmBoard(shards, m_options.attempts), .reports = reports};
    ENGINE_TRY(const SlurmTaskStates known, m_commands.queue(m_families));
    collect(stage);
    stage.board.adopt(known);
    stage.hasJobs = !stage.board.liveJobs().empty();
    while (true) {
        holdIfPaused(stage, pause.isPaused());
        if (!pause.isPaused())
            ENGINE_TRY_DO(submit(stage));
        ENGINE_TRY_DO(show(stage));
        if (stage.board.isDone())
            return {};
        waitFor(m_options.pollSeconds, stop);
        if (stop.stop_requested())
            return cancel(stage);
        ENGINE_TRY_DO(look(stage));
    }
}

/// Finds what is finished: its file is the only proof.
void SlurmExecutor::collect(Stage& stage) const {
    for (const ExecutorShard& notes : stage.board.allNotes())
        if (notes.phase != ExecutorPhase::Finished &&
            m_folder.state(notes.shard).phase == ShardPhase::Finished)
            stage.board.finish(notes.shard);
}

Result<void> SlurmExecutor::submit(Stage& stage) const {
    std::map<int, std::set<int>> families;
    for (const int shard : stage.board.missing())
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
        if (!job && !stage.hasJobs)
            return job.error();
        if (!job)
            return fail(stage, job.error());
        stage.hasJobs = true;
        stage.board.submit(job.value(), shards);
        stage.failures = 0;
    }
    return {};
}

/// Slurm did not do as asked. That passes: the run waits, but not for ever.
Result<void> SlurmExecutor::fail(Stage& stage, const Error& error) const {
    if (++stage.failures == 1)
        stage.reports.onRemark(error.message + " Shards that run go on; this run waits.");
    if (stage.failures < kMostFailures)
        return {};
    return Error{error.code,
                 fmt::format("Slurm has refused or not answered {} times in a row; the last time: "
                             "{}",
                             stage.failures,
                             error.message),
                 "What is finished is kept; go on with --resume when Slurm answers again."};
}

Result<void> SlurmExecutor::look(Stage& stage) const {
    auto states = m_commands.queue(m_families);
    if (!states) {
        // The accounts have a server of their own, which may still answer.
        const auto accounts = m_commands.accounts(stage.board.liveJobs());
        collect(stage);
        if (accounts)
            for (const int shard : stage.board.observe(accounts.value(), false))
                explain(stage, shard, accounts.value());
        return fail(stage, states.error());
    }
    // Slurm forgets what has ended after some minutes, the accounts do not.
    if (const auto jobs = stage.board.liveJobs(states.value()); !jobs.empty())
        if (const auto accounts = m_commands.accounts(jobs))
            for (const auto& [task, state] : accounts.value())
                if (state.phase == SlurmPhase::Completed || state.phase == SlurmPhase::Ended)
                    states.value().emplace(task, state);
    // Behind the question: what had ended by then has left its file.
    collect(stage);
    for (const int shard : stage.board.observe(states.value(), true))
        explain(stage, shard, states.value());
    if (stage.failures > 0 && stage.board.missing().empty()) {
        stage.failures = 0;
        stage.reports.onRemark("Slurm answers again.");
    }
    return {};
}

/// Says why a shard is run again or given up.
void SlurmExecutor::explain(Stage& stage, int shard, const SlurmTaskStates& states) const {
    const SlurmTask task = stage.board.task(shard);
    const auto state = states.find(task);
    const bool hasBegun = state != states.end() && !state->second.node.empty();
    const auto words = m_files.lastWords(task.job, task.index);
    if (words && !words->empty())
        stage.board.addToEnd(shard, fmt::format(", and its log ends with \"{}\"", *words));
    else if (!words && hasBegun)
        stage.board.addToEnd(shard,
                             fmt::format(", and it left no log: does that node see the folder {}?",
                                         m_files.runFolder().string()));
    const ExecutorShard& notes = stage.board.notes(shard);
    if (notes.phase == ExecutorPhase::GivenUp)
        stage.reports.onRemark(fmt::format(
            "Shard {} was given up after {} attempts: {}.", shard, notes.attempts, notes.ended));
    else
        stage.reports.onRemark(
            fmt::format("Shard {} is run again. It ended so: {}.", shard, notes.ended));
}

void SlurmExecutor::holdIfPaused(Stage& stage, bool isPaused) const {
    if (isPaused == stage.isHeld)
        return;
    stage.isHeld = isPaused;
    const auto jobs = stage.board.liveJobs();
    if (jobs.empty())
        return;
    const auto done = isPaused ? m_commands.hold(jobs) : m_commands.release(jobs);
    if (!done)
        stage.reports.onRemark(done.error().message);
}

/// Tells what has changed, and keeps it in the run folder.
Result<void> SlurmExecutor::show(Stage& stage) {
    bool hasChanged = false;
    for (const ExecutorShard& notes : stage.board.allNotes()) {
        auto kept = std::ranges::find(m_state.shards, notes.shard, &ExecutorShard::shard);
        if (kept != m_state.shards.end() && *kept == notes)
            continue;
        hasChanged = true;
        const bool isNewPhase =
            kept == m_state.shards.end() || shownPhase(kept->phase) != shownPhase(notes.phase);
        if (kept == m_state.shards.end())
            m_state.shards.push_back(notes);
        else
            *kept = notes;
        if (isNewPhase)
            stage.reports.onState({.shard = notes.shard, .phase = shownPhase(notes.phase)});
    }
    return hasChanged ? saveExecutorState(m_folder.path(), m_state) : Result<void>();
}

Error SlurmExecutor::cancel(Stage& stage) {
    if (const auto jobs = stage.board.liveJobs(); !jobs.empty()) {
        const auto done = m_commands.cancel(jobs);
        if (!done)
            stage.reports.onRemark(done.error().message +
                                   " Its jobs go on, and --resume takes them over.");
        else
            stage.board.takeBack();
    }
    if (const auto shown = show(stage); !shown)
        return shown.error();
    return {ErrorCode::Cancelled,
            "The run was stopped; its jobs are cancelled.",
            "Go on with it by --resume: what is finished is kept."};
}

/// Hex digits that no other run folder has.
std::string newId() {
    std::random_device random;
    return fmt::format("{:08x}{:08x}", random(), random());
}

bool isId(const std::string& text) {
    return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

} // namespace

Result<std::unique_ptr<Executor>> makeSlurmExecutor(const RunFolder& folder,
                                                    const SlurmOptions& options) {
    ENGINE_TRY_DO(checkSlurmOptions(options));
    ENGINE_TRY(const auto kept, loadExecutorState(folder.path()));
    ExecutorState state = kept.value_or(ExecutorState());
    if (state.executor != "slurm" || !isId(state.id))
        state = {.executor = "slurm", .id = newId(), .shards = {}};
    ENGINE_TRY(SlurmCommands commands, SlurmCommands::find("swift-" + state.id));
    ENGINE_TRY(SlurmFiles files, SlurmFiles::make(folder.path()));
    // Before the first job: whatever happens, its name leads to it.
    ENGINE_TRY_DO(saveExecutorState(folder.path(), state));
    return std::unique_ptr<Executor>(std::make_unique<SlurmExecutor>(
        folder, options, std::move(commands), std::move(files), std::move(state)));
}

} // namespace app
