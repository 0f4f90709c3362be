// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/executors/slurm_commands.h"

#include "app/child_process.h"

#include <fmt/ranges.h>

#include <iterator>

namespace app {

using namespace engine;

namespace {

constexpr std::chrono::seconds kLongestCommand{60};
constexpr std::size_t kMostAnswer = 32'000'000; // 100,000 shards, and some of earlier runs

/// A stop does not end them: a half-made submission would leave a job that nobody follows.
Result<ChildOutput> runSlurm(std::vector<std::string> words) {
    return runChild(
        {.words = std::move(words), .limit = kLongestCommand, .mostOutput = kMostAnswer}, {});
}

Error noAnswer(const std::string& command, const ChildOutput& made) {
    const std::string said =
        made.hasEnded ? fmt::format("it says: {}", slurmSaid(made.errors))
                      : fmt::format("it was still busy after {} s", kLongestCommand.count());
    return {ErrorCode::Io,
            fmt::format("{} failed ({}).", command, said),
            "Look at the cluster's own state with sinfo and squeue."};
}

Result<void> runOrder(std::vector<std::string> words) {
    const std::string command = words.front();
    ENGINE_TRY(const ChildOutput made, runSlurm(std::move(words)));
    if (!made.hasSucceeded())
        return noAnswer(command, made);
    return {};
}

/// "7_3,7_4"
std::string listOf(const std::vector<SlurmTask>& tasks) {
    std::string list;
    for (const SlurmTask& task : tasks)
        list += fmt::format("{}{}_{}", list.empty() ? "" : ",", task.job, task.index);
    return list;
}

/// "0-3,7" of {0, 1, 2, 3, 7}.
std::string rangesOf(const std::set<int>& indexes) {
    std::string text;
    for (auto first = indexes.begin(); first != indexes.end();) {
        auto last = first;
        while (std::next(last) != indexes.end() && *std::next(last) == *last + 1)
            ++last;
        text += text.empty() ? "" : ",";
        text += first == last ? std::to_string(*first) : fmt::format("{}-{}", *first, *last);
        first = std::next(last);
    }
    return text;
}

} // namespace

Result<SlurmCommands> SlurmCommands::find(std::string prefix) {
    for (const char* command : {"sbatch", "squeue", "scancel"}) {
        const auto made = runSlurm({command, "--version"});
        if (!made && made.error().code == ErrorCode::NotFound)
            return Error{ErrorCode::NotFound,
                         fmt::format("Slurm is not installed here: there is no {}.", command),
                         "Start the run on a machine of the cluster on which sbatch works, or use "
                         "--executor local."};
        ENGINE_TRY_DO(made ? Result<void>() : Result<void>(made.error()));
    }
    return SlurmCommands(std::move(prefix));
}

Result<long> SlurmCommands::submit(const SlurmOptions& options,
                                   const std::filesystem::path& script,
                                   const std::string& log,
                                   int family,
                                   const std::set<int>& indexes) const {
    const std::string throttle =
        options.throttle > 0 ? fmt::format("%{}", options.throttle) : std::string();
    std::vector<std::string> words = {
        "sbatch",
        "--parsable",
        // What is killed is submitted again by us, so that it is counted.
        "--no-requeue",
        "--array=" + rangesOf(indexes) + throttle,
        "--job-name=" + slurmJobName(m_prefix, family),
        "--output=" + log,
    };
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty())
            words.push_back(name + value);
    };
    add("--partition=", options.partition);
    add("--time=", options.time);
    add("--mem=", options.memory);
    add("--cpus-per-task=", options.cpus > 0 ? std::to_string(options.cpus) : std::string());
    words.insert(words.end(), options.arguments.begin(), options.arguments.end());
    words.push_back(script.string());
    ENGINE_TRY(const ChildOutput made, runSlurm(std::move(words)));
    if (!made.hasEnded)
        return noAnswer("sbatch", made);
    if (!made.hasSucceeded())
        return Error{ErrorCode::InvalidInput,
                     fmt::format("sbatch refuses the parts of the run; it says: {}.",
                                 slurmSaid(made.errors)),
                     "Correct the --slurm options (sinfo lists the partitions), then go on with "
                     "--resume."};
    return readSbatchAnswer(made.output);
}

Result<SlurmTaskStates> SlurmCommands::queue(int families) const {
    std::vector<std::string> names;
    for (int family = 0; family < families; ++family)
        names.push_back(slurmJobName(m_prefix, family));
    ENGINE_TRY(const ChildOutput made,
               runSlurm({"squeue",
                         "--noheader",
                         "--array",
                         "--states=all",
                         fmt::format("--name={}", fmt::join(names, ",")),
                         std::string("--format=") + kSqueueFormat}));
    if (!made.hasSucceeded())
        return noAnswer("squeue", made);
    return readSqueueAnswer(made.output, m_prefix);
}

Result<SlurmTaskStates> SlurmCommands::accounts(const std::set<long>& jobs) const {
    const auto made = runSlurm({"sacct",
                                "--allocations",
                                "--noheader",
                                "--parsable2",
                                fmt::format("--jobs={}", fmt::join(jobs, ",")),
                                std::string("--format=") + kSacctFormat});
    // "Slurm accounting storage is disabled", or there is no sacct.
    if (!made || !made.value().hasSucceeded())
        return SlurmTaskStates();
    return readSacctAnswer(made.value().output, m_prefix);
}

Result<void> SlurmCommands::cancel(const std::set<long>& jobs) const {
    std::vector<std::string> words = {"scancel"};
    for (const long job : jobs)
        words.push_back(std::to_string(job));
    return runOrder(std::move(words));
}

// Slurm refuses to hold or to release an array of which a task has ended, so the tasks are named.

Result<void> SlurmCommands::hold(const std::vector<SlurmTask>& tasks) const {
    return runOrder({"scontrol", "hold", listOf(tasks)});
}

Result<void> SlurmCommands::release(const std::vector<SlurmTask>& tasks) const {
    return runOrder({"scontrol", "release", listOf(tasks)});
}

} // namespace app
