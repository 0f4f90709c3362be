// SPDX-License-Identifier: Apache-2.0
#include "app/data/prompt_source.h"

#include "app/number_check.h"
#include "app/streams/console.h"

#include <fmt/ranges.h>

#include <set>

namespace app {

using namespace engine;

namespace {

constexpr std::size_t kMaxTasksNamed = 12;
constexpr std::int64_t kMaxBadLinesNamed = 20; // of a file

/// The tasks of a file's prompts, for the hint when the requested one is not among them.
Result<std::string> tasksIn(const std::string& file, DataStreamOptions options) {
    options.onlyTask.reset();
    ENGINE_TRY(DataStream stream, DataStream::open(file, options));
    std::set<std::string> tasks;
    while (tasks.size() < kMaxTasksNamed) {
        ENGINE_TRY(const auto item, stream.next());
        if (!item)
            break;
        if (const auto* record = std::get_if<DataRecord>(&*item))
            tasks.insert(record->task);
    }
    return fmt::format("{}", fmt::join(tasks, ", "));
}

Error noPrompts(const std::string& file, const DataSummary& found, const DataOptions& options) {
    if (found.badLines > 0)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The data file {} holds no prompts: all {} lines are invalid.",
                                 file,
                                 found.badLines),
                     fmt::format("Each line must be a JSON object with a text (or a list of texts) "
                                 "\"{}\"; in a .txt file each line is a prompt.",
                                 options.stream.textField)};
    const auto tasks = options.stream.onlyTask ? tasksIn(file, options.stream) : std::string();
    if (tasks && !tasks.value().empty())
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The data file {} holds no prompts of the task \"{}\".",
                                 file,
                                 *options.stream.onlyTask),
                     fmt::format("It has prompts of these tasks: {}.", tasks.value())};
    return Error{ErrorCode::InvalidInput,
                 fmt::format("The data file {} holds no prompts: it is empty.", file),
                 "Write one JSON object with a \"prompt\" in each line."};
}

Result<DataSummary> checkFile(const std::string& file, const DataOptions& options) {
    ENGINE_TRY(DataStream stream, DataStream::open(file, options.stream));
    DataSummary found;
    while (true) {
        ENGINE_TRY(const auto item, stream.next());
        if (!item)
            break;
        if (const auto* bad = std::get_if<BadLine>(&*item)) {
            if (++found.badLines <= kMaxBadLinesNamed)
                Console::note(fmt::format("{}: {}; this line is skipped", file, bad->message));
        } else {
            ++found.prompts;
        }
    }
    if (found.badLines > kMaxBadLinesNamed)
        Console::note(fmt::format(
            "{}: {} more invalid lines are skipped.", file, found.badLines - kMaxBadLinesNamed));
    if (found.prompts == 0)
        return noPrompts(file, found, options);
    return found;
}

} // namespace

void addDataOptions(CLI::App& command, DataOptions& options) {
    command
        .add_option("--data",
                    options.files,
                    "File of prompts: JSON Lines with \"prompt\" (a text, or a list of a user's "
                    "turns) and \"task\", or a .txt file with one prompt per line; may be given "
                    "several times")
        ->required();
    addLimitOption(command, options);
}

void addLimitOption(CLI::App& command, DataOptions& options) {
    command
        .add_option_function<std::int64_t>(
            "--limit",
            [&options](std::int64_t limit) { options.stream.limit = limit; },
            "Use at most this many prompts of each file; default: all")
        ->check(wholeFrom(1));
}

void addRawOption(CLI::App& command, bool& isRaw) {
    command.add_flag("--raw", isRaw, "Use the prompts as they are, without a chat template");
}

Result<DataSummary> checkData(const DataOptions& options) {
    DataSummary all;
    for (const std::string& file : options.files) {
        ENGINE_TRY(const DataSummary found, checkFile(file, options));
        all.prompts += found.prompts;
        all.badLines += found.badLines;
    }
    return all;
}

Result<void> forEachPrompt(const DataOptions& options,
                           const std::function<Result<bool>(const DataPrompt&)>& visit) {
    for (const std::string& file : options.files) {
        ENGINE_TRY(DataStream stream, DataStream::open(file, options.stream));
        while (true) {
            ENGINE_TRY(auto item, stream.next());
            if (!item)
                break;
            auto* record = std::get_if<DataRecord>(&*item);
            if (record == nullptr)
                continue;
            ENGINE_TRY(const bool goesOn, visit({file, std::move(*record)}));
            if (!goesOn)
                return {};
        }
    }
    return {};
}

} // namespace app
