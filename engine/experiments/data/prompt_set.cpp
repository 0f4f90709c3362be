// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/data/prompt_set.h"

#include "engine/experiments/data/data_sources.h"
#include "engine/experiments/data/data_stream.h"
#include "engine/loading/files/readable_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace engine {

namespace {

constexpr std::int64_t kMostPromptBytes = 1'000'000'000;
constexpr std::size_t kMaxTasksNamed = 12;
constexpr std::size_t kMaxFieldsNamed = 8;

std::int64_t bytesOf(const DataRecord& record) {
    std::size_t bytes = sizeof(DataPrompt) + record.task.size() + record.id.size() +
                        record.test.size() + record.entryPoint.size();
    for (const auto* texts : {&record.turns, &record.references})
        for (const std::string& text : *texts)
            bytes += sizeof text + text.size();
    return static_cast<std::int64_t>(bytes);
}

/// What was found in one file.
struct FileCount {
    std::int64_t prompts = 0; ///< also those beyond a limit
    std::int64_t unused = 0;  ///< see DataChoice::isUsed
    std::int64_t badLines = 0;
    std::set<std::string> otherTasks = {}; ///< of those that were left out, the first ones
};

/// Collects prompts file by file.
class PromptCollector {
public:
    PromptCollector(const DataChoice& choice, const ProblemSink& onProblem, std::stop_token stop)
        : m_choice(choice)
        , m_onProblem(onProblem)
        , m_missing(choice.layout.required)
        , m_mostOfTask(
              std::min(choice.limits.perTask.value_or(std::numeric_limits<std::int64_t>::max()),
                       choice.limits.total.value_or(std::numeric_limits<std::int64_t>::max())))
        , m_stop(std::move(stop)) {}

    Result<void> add(const DataSource& source) {
        FileCount count;
        auto read = readFile(source, count);
        if (count.badLines > kMaxProblemsOfFile)
            tell({source.path.string(),
                  0,
                  fmt::format("{}: {} more invalid lines are skipped.",
                              source.path.string(),
                              count.badLines - kMaxProblemsOfFile)});
        const std::int64_t found = count.prompts + count.unused;
        if (read && found == 0 && !source.isOfFolder)
            read = noPrompts(source, count);
        m_found += found;
        m_set.badLines += count.badLines;
        if (read || !source.isOfFolder || read.error().code == ErrorCode::Cancelled || m_isFull)
            return read;
        tell({source.path.string(), 0, read.error().message});
        return {};
    }

    std::int64_t found() const { return m_found; }

    /// A field that a user has named and that none of the files has; empty for none.
    std::string missingField() const { return m_missing.empty() ? "" : m_missing.front(); }

    PromptSet take() { return std::move(m_set); }

private:
    void tell(const DataProblem& problem) const {
        if (m_onProblem)
            m_onProblem(problem);
    }

    Result<void> readFile(const DataSource& source, FileCount& count) {
        ENGINE_TRY(
            DataStream stream,
            DataStream::open(source.path,
                             {.layout = m_choice.layout, .fileTask = source.task, .stop = m_stop}));
        if (std::string remark = stream.remark(); !remark.empty())
            tell({source.path.string(), 0, std::move(remark)});
        auto read = readRecords(stream, source, count);
        // Also of a file that ended early.
        std::erase_if(m_missing, [&](const std::string& name) { return stream.hasField(name); });
        return read;
    }

    Result<void> readRecords(DataStream& stream, const DataSource& source, FileCount& count) {
        while (count.prompts < m_choice.limits.perFile.value_or(count.prompts + 1)) {
            ENGINE_TRY(auto item, stream.next());
            if (!item)
                break;
            if (const auto* bad = std::get_if<BadLine>(&*item)) {
                if (++count.badLines <= kMaxProblemsOfFile)
                    tell({source.path.string(), bad->line, bad->message});
                continue;
            }
            ENGINE_TRY_DO(addRecord(source, std::get<DataRecord>(std::move(*item)), count));
        }
        return {};
    }

    Result<void> addRecord(const DataSource& source, DataRecord record, FileCount& count) {
        if (m_choice.onlyTask && record.task != *m_choice.onlyTask) {
            if (count.otherTasks.size() < kMaxTasksNamed)
                count.otherTasks.insert(record.task);
            return {};
        }
        if (m_choice.isUsed && !m_choice.isUsed(record)) {
            ++count.unused;
            return {};
        }
        ++count.prompts;
        std::int64_t& ofTask = m_ofTask[record.task];
        if (ofTask >= m_mostOfTask)
            return {};
        ++ofTask;
        m_bytes += bytesOf(record);
        m_isFull = m_bytes > kMostPromptBytes;
        if (m_isFull)
            return Error{ErrorCode::InvalidInput,
                         fmt::format("The prompts up to line {} of {} have more than {} bytes, "
                                     "which is too many for one run",
                                     record.line,
                                     source.path.string(),
                                     kMostPromptBytes),
                         "Use fewer prompts with --limit or --per-task."};
        m_set.prompts.push_back({source.path.string(), std::move(record)});
        return {};
    }

    Error noPrompts(const DataSource& source, const FileCount& count) const;

    const DataChoice& m_choice;
    const ProblemSink& m_onProblem;
    std::vector<std::string> m_missing; // of the required fields: those of no file so far
    const std::int64_t m_mostOfTask;
    std::stop_token m_stop;
    PromptSet m_set;
    std::map<std::string, std::int64_t> m_ofTask; // prompts held
    std::int64_t m_bytes = 0;
    std::int64_t m_found = 0; // prompts of all files, also those beyond a limit and unused ones
    bool m_isFull = false;
};

/// What to do about lines that are all invalid.
std::string hintForBadLines(const std::filesystem::path& file, const DataLayout& layout) {
    std::vector<std::string> names;
    if (const auto fields = fieldsOf(file, layout))
        for (const DataField& field : fields.value())
            if (field.isText && names.size() < kMaxFieldsNamed)
                names.push_back("\"" + readable(field.name, 40) + "\"");
    const bool isNamed =
        std::find(names.begin(), names.end(), "\"" + layout.prompt + "\"") != names.end();
    const DataFormat format = dataFormatOf(file);
    if (format == DataFormat::Table)
        return fmt::format(
            "Each row needs as many cells as the first line, and a text in the column "
            "\"{}\".",
            layout.prompt);
    if (format != DataFormat::JsonLines)
        return "A prompt is a text in UTF-8 of at most 16 MB.";
    if (!names.empty() && !isNamed)
        return fmt::format("The texts in its lines are {}: name the one that is the prompt, for "
                           "example with --text-field {}.",
                           fmt::join(names, ", "),
                           names.front());
    return fmt::format(
        "Each line must be a JSON object with a text (or a list of texts) \"{}\"; in "
        "a .txt file each line is a prompt.",
        layout.prompt);
}

/// What to write into a file without anything.
std::string hintForEmpty(const std::filesystem::path& file, const DataLayout& layout) {
    switch (dataFormatOf(file)) {
    case DataFormat::Table:
        return "Write a row for each prompt, below the row with the names of the columns.";
    case DataFormat::Lines:
        return "Write a prompt in each line.";
    case DataFormat::Document:
        return "The whole file is one prompt: write it there.";
    case DataFormat::JsonLines:
        break;
    }
    return fmt::format("Write one JSON object with a \"{}\" in each line.", layout.prompt);
}

/// For a field that was named and that is nowhere.
Error noField(const std::vector<DataSource>& sources,
              const std::string& field,
              const DataLayout& layout) {
    std::vector<std::string> names;
    std::string file;
    for (const DataSource& source : sources) {
        const auto fields = fieldsOf(source.path, layout);
        if (!fields || fields.value().empty())
            continue;
        file = source.path.string();
        for (const DataField& known : fields.value())
            if (names.size() < kMaxFieldsNamed)
                names.push_back("\"" + readable(known.name, 40) + "\"");
        break;
    }
    return {ErrorCode::InvalidInput,
            fmt::format("None of the data files has a field or a column \"{}\".", readable(field)),
            names.empty() ? "Leave its name out: these files have no fields."
                          : fmt::format("Those of {} are {}.", file, fmt::join(names, ", "))};
}

Error PromptCollector::noPrompts(const DataSource& source, const FileCount& count) const {
    const std::string file = source.path.string();
    if (!count.otherTasks.empty())
        return {
            ErrorCode::InvalidInput,
            fmt::format(
                "The data file {} holds no prompts of the task \"{}\".", file, *m_choice.onlyTask),
            fmt::format("It has prompts of these tasks: {}.", fmt::join(count.otherTasks, ", "))};
    if (count.badLines > 0)
        return {ErrorCode::InvalidInput,
                fmt::format("The data file {} holds no prompts: all {} lines are invalid.",
                            file,
                            count.badLines),
                hintForBadLines(source.path, m_choice.layout)};
    return {ErrorCode::InvalidInput,
            fmt::format("The data file {} holds no prompts: it is empty.", file),
            hintForEmpty(source.path, m_choice.layout)};
}

/// Keeps the first prompts of each task, taken in turn.
void keepInTurn(std::vector<DataPrompt>& prompts, std::int64_t total) {
    std::map<std::string, std::int64_t> left; // of each task
    for (const DataPrompt& prompt : prompts)
        ++left[prompt.record.task];
    // As the tasks first appear, each gives one more prompt.
    std::vector<std::string> tasks;
    std::map<std::string, std::int64_t> kept;
    for (const DataPrompt& prompt : prompts)
        if (kept.try_emplace(prompt.record.task, 0).second)
            tasks.push_back(prompt.record.task);
    std::int64_t missing = std::min(total, static_cast<std::int64_t>(prompts.size()));
    while (missing > 0)
        for (const std::string& task : tasks)
            if (missing > 0 && kept[task] < left[task]) {
                ++kept[task];
                --missing;
            }
    std::vector<DataPrompt> chosen;
    for (DataPrompt& prompt : prompts)
        if (kept[prompt.record.task]-- > 0)
            chosen.push_back(std::move(prompt));
    prompts = std::move(chosen);
}

Result<void> checkLimit(const std::optional<std::int64_t>& limit) {
    if (limit.value_or(1) > 0)
        return {};
    return Error{ErrorCode::InvalidInput,
                 fmt::format("The limit of prompts is {}, but must be at least 1.", *limit),
                 "Give a positive number, or leave it out to use all."};
}

} // namespace

Result<PromptSet> collectPrompts(const DataChoice& choice,
                                 const ProblemSink& onProblem,
                                 const std::stop_token& stop) {
    for (const auto& limit : {choice.limits.perFile, choice.limits.perTask, choice.limits.total})
        ENGINE_TRY_DO(checkLimit(limit));
    ENGINE_TRY(const auto sources, findDataSources(choice.paths));
    PromptCollector collector(choice, onProblem, stop);
    for (const DataSource& source : sources)
        ENGINE_TRY_DO(collector.add(source));
    const bool isEmpty = collector.found() == 0;
    PromptSet set = collector.take();
    if (isEmpty && !sources.empty())
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("The data files of {} hold no prompts{}.",
                        sources.front().path.parent_path().string(),
                        choice.onlyTask ? " of the task \"" + *choice.onlyTask + "\"" : ""),
            "Name one of its files alone to learn what it lacks."};
    if (const std::string field = collector.missingField(); !field.empty())
        return noField(sources, field, choice.layout);
    if (choice.limits.total)
        keepInTurn(set.prompts, *choice.limits.total);
    std::vector<std::string> tasks;
    for (const DataPrompt& prompt : set.prompts)
        tasks.push_back(prompt.record.task);
    std::vector<DataPrompt> ordered;
    for (const std::size_t index :
         orderedIndexes(tasks, choice.order.value_or(DataOrder::AsIs), choice.seed))
        ordered.push_back(std::move(set.prompts[index]));
    set.prompts = std::move(ordered);
    return set;
}

} // namespace engine
