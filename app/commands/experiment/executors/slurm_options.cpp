// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/executors/slurm_options.h"

#include "app/number_check.h"
#include "engine/loading/files/readable_text.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>

namespace app {

using namespace engine;

namespace {

/// What this program says to sbatch by itself, long and short.
constexpr std::array kOwnArguments = {"--array",
                                      "-a",
                                      "--error",
                                      "-e",
                                      "--job-name",
                                      "-J",
                                      "--output",
                                      "-o",
                                      "--parsable",
                                      "--requeue",
                                      "--test-only",
                                      "--wait",
                                      "-W",
                                      "--wrap",
                                      "--clusters",
                                      "-M",
                                      "--chdir",
                                      "-D"};

bool isOneWord(const std::string& text) {
    return isValidUtf8(text) && std::ranges::none_of(text, [](unsigned char letter) {
               return letter <= ' ' || letter == 0x7F;
           });
}

Error badValue(const char* option, const std::string& value) {
    return {ErrorCode::InvalidInput,
            fmt::format("{} cannot be \"{}\".", option, readable(value)),
            "Type one word as sbatch takes it; the manual of sbatch says which."};
}

} // namespace

Result<void> checkSlurmOptions(const SlurmOptions& options) {
    for (const auto& [name, value] : {std::pair("--slurm-partition", &options.partition),
                                      std::pair("--slurm-time", &options.time),
                                      std::pair("--slurm-memory", &options.memory)})
        if (!isOneWord(*value))
            return badValue(name, *value);
    for (const std::string& argument : options.arguments) {
        if (!argument.starts_with('-') || !isValidUtf8(argument) ||
            argument.find('\0') != std::string::npos)
            return badValue("--slurm-argument", argument);
        const std::string name = argument.starts_with("--") ? argument.substr(0, argument.find('='))
                                                            : argument.substr(0, 2);
        if (std::ranges::count(kOwnArguments, name) != 0)
            return Error{
                ErrorCode::InvalidInput,
                fmt::format("--slurm-argument cannot be \"{}\".", readable(argument)),
                "swift-run sets this argument of sbatch itself, to follow the parts of the run."};
    }
    return {};
}

void addSlurmOptions(CLI::App& command, SlurmOptions& options) {
    const auto add = [&command](const char* name, auto& value, const char* help) {
        return command.add_option(name, value, help)->group("On a cluster (--executor slurm)");
    };
    add("--slurm-partition", options.partition, "The partition; default: the cluster's");
    add("--slurm-time", options.time, "The time limit of one part, as sbatch takes it: 2:00:00");
    add("--slurm-memory", options.memory, "The memory of one part, as sbatch takes it: 4G");
    add("--slurm-cpus", options.cpus, "The processors of one part")->transform(wholeFrom(1));
    add("--slurm-throttle", options.throttle, "How many parts run at the same time at most")
        ->transform(wholeFrom(1));
    add("--slurm-argument",
        options.arguments,
        "A further argument of sbatch, for instance --slurm-argument=--exclusive; may be given "
        "several times");
    add("--slurm-attempts",
        options.attempts,
        "How often a part that is killed is submitted at most")
        ->transform(wholeFrom(1))
        ->capture_default_str();
    add("--slurm-poll", options.pollSeconds, "Seconds between two questions to Slurm")
        ->transform(numberFrom(0.1, 3600.0))
        ->capture_default_str();
}

} // namespace app
