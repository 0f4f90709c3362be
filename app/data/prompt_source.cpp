// SPDX-License-Identifier: Apache-2.0
#include "app/data/prompt_source.h"

#include "app/number_check.h"
#include "app/streams/console.h"

#include <limits>

namespace app {

using namespace engine;

namespace {

/// How the records of a file are read.
void addLayoutOptions(CLI::App& command, DataLayout& layout) {
    const auto require = [&layout](const std::string& name) {
        if (!name.empty())
            layout.required.push_back(name);
    };
    command
        .add_option(
            "--text-field", layout.prompt, "Name of the field or the column that holds the prompt")
        ->capture_default_str();
    command
        .add_option("--task-field",
                    layout.task,
                    "Name of the field or the column that holds the task; where it is missing, the "
                    "task is the file's name without its extension; \"\": always that name")
        ->each(require)
        ->capture_default_str();
    command
        .add_option("--reference-field",
                    layout.reference,
                    "Name of the field or the column that holds the accepted answers; \"\": none "
                    "does")
        ->each(require)
        ->capture_default_str();
    command
        .add_option("--id-field",
                    layout.id,
                    "Name of the field or the column that holds the id; where it is missing, the "
                    "id is the line's number")
        ->each(require)
        ->capture_default_str();
    const auto separator = [&layout](const std::string& typed) {
        layout.separator = typed == "tab" ? '\t' : typed.front();
    };
    command
        .add_option_function<std::string>(
            "--separator",
            separator,
            "The character between a table's cells, or tab; default: found out from the first rows")
        ->check(CLI::Validator(
            [](const std::string& typed) {
                const bool isGood =
                    typed == "tab" || (typed.size() == 1 && typed != "\"" && typed != "\n");
                return isGood ? std::string()
                              : fmt::format("\"{}\" is neither tab nor one character.", typed);
            },
            "CHARACTER"));
    command.add_flag("!--no-header",
                     layout.hasHeader,
                     "The first row of a table is a prompt too: its columns are called 1, 2, ...");
}

void addOrderOptions(CLI::App& command, DataOptions& options) {
    command
        .add_option_function<std::string>(
            "--order",
            [&options](const std::string& name) {
                options.order = dataOrderOf(name).value_or(DataOrder::AsIs);
            },
            "The order of the prompts: as-is, as in the files; by-task, one task after another; "
            "shuffled; drift, one task after another, but they fade into each other; default: "
            "as-is")
        ->check(CLI::IsMember({"as-is", "by-task", "shuffled", "drift"}));
    command
        .add_option("--order-seed",
                    options.seed,
                    "shuffled, drift: the same seed gives the same order on every machine")
        ->transform(numberFrom<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max()))
        ->capture_default_str();
}

} // namespace

void addDataOptions(CLI::App& command, DataOptions& options) {
    command
        .add_option("--data",
                    options.paths,
                    "Prompts: JSON Lines with \"prompt\" (a text, or a list of a user's turns) and "
                    "\"task\", a table with such columns (.csv, .tsv), a .txt file with one prompt "
                    "per line, a .md file that is one prompt, or a folder of such files; may be "
                    "given several times")
        ->required();
    addLayoutOptions(command, options.layout);
    addLimitOption(command, options);
    command
        .add_option_function<std::int64_t>(
            "--per-task",
            [&options](std::int64_t limit) { options.limits.perTask = limit; },
            "Use at most this many prompts of each task; default: all")
        ->transform(wholeFrom(1));
    command
        .add_option_function<std::int64_t>(
            "--total",
            [&options](std::int64_t limit) { options.limits.total = limit; },
            "Use at most this many prompts in all: each task gives one in turn; default: all")
        ->transform(wholeFrom(1));
    addOrderOptions(command, options);
}

void addLimitOption(CLI::App& command, DataOptions& options) {
    command
        .add_option_function<std::int64_t>(
            "--limit",
            [&options](std::int64_t limit) { options.limits.perFile = limit; },
            "Use at most this many prompts of each file; default: all")
        ->transform(wholeFrom(1));
}

void addRawOption(CLI::App& command, bool& isRaw) {
    command.add_flag("--raw", isRaw, "Use the prompts as they are, without a chat template");
}

Result<PromptSet> readPrompts(const DataOptions& options, const std::stop_token& stop) {
    return collectPrompts(
        options,
        [](const DataProblem& problem) {
            Console::note(
                problem.line == 0
                    ? problem.message
                    : fmt::format("{}: {}; this line is skipped", problem.file, problem.message));
        },
        stop);
}

DataSummary summaryOf(const PromptSet& set) {
    return {.prompts = static_cast<std::int64_t>(set.prompts.size()), .badLines = set.badLines};
}

Result<void> forEachPrompt(const std::vector<DataPrompt>& prompts,
                           const std::function<Result<bool>(const DataPrompt&)>& visit) {
    for (const DataPrompt& prompt : prompts) {
        ENGINE_TRY(const bool goesOn, visit(prompt));
        if (!goesOn)
            break;
    }
    return {};
}

Error noAnswerError() {
    return {ErrorCode::InvalidInput,
            "No prompt was answered.",
            "The lines above say why each was skipped."};
}

} // namespace app
