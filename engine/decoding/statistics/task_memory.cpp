// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/statistics/task_memory.h"

#include "engine/loading/files/readable_text.h"
#include "engine/loading/json/json_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace engine {

namespace {

constexpr std::int64_t kTasksFormat = 1;
constexpr std::size_t kMaxTaskNameBytes = 256;
constexpr double kSteps = 1e5; ///< numbers are kept as whole multiples of 1 / kSteps
constexpr JsonLimits kTaskFileLimits = {
    .maxBytes = 4'000'000, .maxDepth = 8, .maxNodes = 200'000, .allowsTwins = true};

bool isName(std::string_view name) {
    return !name.empty() && name.size() <= kMaxTaskNameBytes && isValidUtf8(name);
}

Result<void> checkName(std::string_view name) {
    if (isName(name))
        return {};
    return Error{ErrorCode::InvalidInput,
                 fmt::format("\"{}\" cannot name a task: a name is UTF-8 of 1 to {} bytes",
                             readable(name),
                             kMaxTaskNameBytes),
                 "Choose another name."};
}

/// Takes a task out. Errors: NotFound.
Result<KnownTask> take(KnownTasks& tasks, const std::string& name) {
    const auto found = tasks.find(name);
    if (found == tasks.end())
        return Error{ErrorCode::NotFound,
                     fmt::format("No prompt of a task \"{}\" was learnt", readable(name)),
                     "swift-run library list shows the tasks."};
    return std::move(tasks.extract(found).mapped());
}

/// Nothing if it is no vector of unit length.
std::optional<PromptVector> readVector(const JsonValue& value) {
    const auto items = value.items();
    PromptVector vector{};
    if (items.size() != vector.size())
        return std::nullopt;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const auto step = items[i].asInteger();
        if (!step || std::abs(static_cast<double>(*step)) > kSteps)
            return std::nullopt;
        vector[i] = static_cast<double>(*step) / kSteps;
    }
    const double square = std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0);
    return std::abs(square - 1.0) < 1e-2 ? std::optional(vector) : std::nullopt;
}

/// Reads one file's content; every complaint names the file and the byte.
class TaskReader {
public:
    explicit TaskReader(std::string path)
        : m_path(std::move(path)) {}

    Result<TaskLibrary> read(const JsonValue& root, std::string_view fingerprint) {
        ENGINE_TRY_DO(checkDataFormat(m_path, root, kTasksFormat, "memory of tasks"));
        if (root["model"].asString() != fingerprint)
            return bad("it was made for another model", root["model"]);
        if (!root["tasks"].isObject())
            return bad("it has no list of tasks", root);
        TaskLibrary library;
        for (const auto& [name, value] : root["tasks"].members())
            readTask(name, value, library);
        return library;
    }

private:
    Error bad(std::string_view problem, const JsonValue& at) const {
        return damagedDataFile(m_path, problem, at);
    }

    void readTask(std::string_view name, const JsonValue& value, TaskLibrary& library) const {
        const auto prompts = value["prompts"].asInteger();
        const auto metAt = value["met_at"].asInteger();
        const bool isWhole = isName(name) && prompts && *prompts > 0 && metAt &&
                             value["vectors"].isArray() &&
                             library.tasks.size() < TaskMemory::kTasksKept;
        if (!isWhole) {
            library.unusable.push_back(
                bad(fmt::format("task \"{}\" cannot be used", readable(name)), value));
            return;
        }
        KnownTask task{.vectors = {}, .prompts = *prompts, .metAt = *metAt};
        const auto vectors = value["vectors"].items();
        for (std::size_t i = 0; i < vectors.size(); ++i) {
            const auto vector = readVector(vectors[i]);
            if (vector && task.vectors.size() < KnownTask::kVectorsKept)
                task.vectors.push_back(*vector);
            else
                library.unusable.push_back(bad(
                    fmt::format("prompt {} of the task \"{}\" is damaged", i + 1, readable(name)),
                    vectors[i]));
        }
        if (!task.vectors.empty() && !library.tasks.emplace(name, std::move(task)).second)
            library.unusable.push_back(bad(
                fmt::format("task \"{}\" is there twice; its first prompts count", readable(name)),
                value));
    }

    std::string m_path;
};

} // namespace

TaskMemory::TaskMemory(const SkipSetMemory& sets)
    : m_fingerprint(sets.fingerprint())
    , m_path(modelDataFile(sets.folder(), "tasks", m_fingerprint, ".json")) {}

Result<TaskLibrary> TaskMemory::all() const {
    auto document = readDataFile(m_path, kTaskFileLimits);
    if (!document && document.error().code == ErrorCode::NotFound)
        return TaskLibrary();
    if (!document)
        return std::move(document).error();
    return TaskReader(m_path.string()).read(document.value().root(), m_fingerprint);
}

Result<std::string>
TaskMemory::learn(const std::string& task, const PromptVector& vector, std::int64_t now) {
    return change([&](KnownTasks& tasks) -> Result<void> {
        ENGINE_TRY_DO(checkName(task));
        if (!tasks.contains(task) && tasks.size() >= kTasksKept)
            tasks.erase(std::ranges::min_element(
                tasks, {}, [](const auto& each) { return each.second.metAt; }));
        tasks[task].learn(vector, now);
        return {};
    });
}

Result<std::string> TaskMemory::rename(const std::string& from, const std::string& to) {
    return change([&](KnownTasks& tasks) -> Result<void> {
        ENGINE_TRY_DO(checkName(to));
        ENGINE_TRY(const KnownTask moved, take(tasks, from));
        KnownTask& task = tasks[to];
        const std::int64_t prompts = task.prompts + moved.prompts;
        for (const PromptVector& vector : moved.vectors)
            task.learn(vector, std::max(task.metAt, moved.metAt));
        task.prompts = prompts;
        return {};
    });
}

Result<std::string> TaskMemory::forget(const std::string& task) {
    return change([&](KnownTasks& tasks) -> Result<void> {
        ENGINE_TRY_DO(take(tasks, task));
        return {};
    });
}

Result<std::string> TaskMemory::change(const std::function<Result<void>(KnownTasks&)>& change) {
    Result<TaskLibrary> known = all();
    const bool isBroken = !known && (known.error().code == ErrorCode::CorruptFile ||
                                     known.error().code == ErrorCode::Unsupported);
    if (!known && !isBroken)
        return std::move(known).error();
    TaskLibrary library = known ? known.value() : TaskLibrary();
    if (isBroken)
        library.unusable.push_back(known.error());
    ENGINE_TRY_DO(change(library.tasks));
    std::string note;
    if (!library.unusable.empty()) {
        ENGINE_TRY(note, setDataFileAside(m_path, library.unusable.front()));
    }
    if (!note.empty() && !isBroken)
        note += " It begins with the tasks that could be used.";
    ENGINE_TRY_DO(storeDataFile(m_path, toJson(library.tasks)));
    return note;
}

std::string TaskMemory::toJson(const KnownTasks& tasks) const {
    std::string text = fmt::format("{{\n\"format\": {},\n\"model\": {},\n\"tasks\": {{",
                                   kTasksFormat,
                                   jsonString(m_fingerprint));
    std::string_view separator = "\n";
    for (const auto& [name, task] : tasks) {
        std::vector<std::string> vectors;
        for (const PromptVector& vector : task.vectors) {
            std::vector<std::int64_t> steps;
            for (const double value : vector)
                steps.push_back(std::llround(value * kSteps));
            vectors.push_back(fmt::format("[{}]", fmt::join(steps, ",")));
        }
        text += fmt::format("{} {}: {{\"prompts\":{},\"met_at\":{},\"vectors\":[\n  {}]}}",
                            separator,
                            jsonString(name),
                            task.prompts,
                            task.metAt,
                            fmt::join(vectors, ",\n  "));
        separator = ",\n";
    }
    return text + "\n}\n}\n";
}

} // namespace engine
