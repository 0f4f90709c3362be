// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/statistics/skip_set_memory.h"

#include "engine/loading/files/readable_text.h"
#include "engine/loading/json/json_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace engine {

namespace {

constexpr std::int64_t kFormat = 1;
constexpr std::size_t kMaxTasks = 10'000;
constexpr std::size_t kMaxNameBytes = 4096;
constexpr JsonLimits kLimits = {
    .maxBytes = 16'000'000, .maxDepth = 8, .maxNodes = 2'000'000, .allowsTwins = true};

/// Reads one file's content; every complaint names the file and the byte.
class MemoryReader {
public:
    MemoryReader(const std::string& path, int layerCount)
        : m_path(path)
        , m_layerCount(layerCount) {}

    Result<SkipSetLibrary> read(const JsonValue& root) const {
        ENGINE_TRY_DO(checkHeader(root));
        const JsonValue tasks = root["tasks"];
        if (!tasks.isObject())
            return bad("it has no list of tasks", root);
        if (tasks.size() > kMaxTasks)
            return bad(fmt::format("it names more than {} tasks", kMaxTasks), tasks);
        SkipSetLibrary library;
        for (const auto& [task, value] : tasks.members()) {
            auto stored = readEntry(task, value);
            if (!stored)
                library.unusable.emplace_back(task, stored.error());
            else if (!library.sets.emplace(task, std::move(stored).value()).second)
                library.unusable.emplace_back(
                    task,
                    bad(fmt::format("task \"{}\" is there twice; its first set counts",
                                    readable(task)),
                        value));
        }
        return library;
    }

private:
    Error bad(std::string_view problem, const JsonValue& at) const {
        return damagedDataFile(m_path, problem, at);
    }

    Result<void> checkHeader(const JsonValue& root) const {
        ENGINE_TRY_DO(checkDataFormat(m_path, root, kFormat, "memory of skip sets"));
        const auto layers = root["layers"].asInteger();
        if (layers != m_layerCount)
            return bad(fmt::format("its skip sets are for {} layers, but the model has {}",
                                   layers ? fmt::format("{}", *layers) : "no number of",
                                   m_layerCount),
                       root["layers"]);
        return {};
    }

    Result<StoredSkipSet> readEntry(std::string_view task, const JsonValue& value) const {
        if (task.size() > kMaxNameBytes)
            return bad("it names a task too long to be one", value);
        const std::string where = fmt::format("{}, task \"{}\"", m_path, readable(task));
        StoredSkipSet stored;
        ENGINE_TRY(stored.set, readSkipSet(value, where));
        if (const auto plan = planOf(stored.set, m_layerCount); !plan)
            return bad(fmt::format("task \"{}\": {}", readable(task), plan.error().message), value);
        const auto score = value["score"].asNumber();
        const auto skipRatio = value["skip_ratio"].asNumber();
        const auto decoder = value["decoder"].asString();
        const auto savedAt = value["saved_at"].asInteger();
        const auto trials = value["trials"].asInteger();
        const bool isWhole = score && std::isfinite(*score) && skipRatio && *skipRatio >= 0.0 &&
                             *skipRatio <= 1.0 && decoder && decoder->size() <= kMaxNameBytes &&
                             savedAt && trials && *trials >= 0 &&
                             *trials <= std::numeric_limits<int>::max();
        if (!isWhole)
            return bad(
                fmt::format("task \"{}\" lacks a number, or has one out of range", readable(task)),
                value);
        stored.score = *score;
        stored.skipRatio = *skipRatio;
        stored.decoder = *decoder;
        stored.savedAt = *savedAt;
        stored.trials = static_cast<int>(*trials);
        return stored;
    }

    const std::string& m_path;
    int m_layerCount;
};

std::string entryJson(const StoredSkipSet& stored) {
    std::string text = skipSetJson(stored.set);
    text.pop_back();
    return text + fmt::format(",\"score\":{},\"skip_ratio\":{},\"decoder\":{},\"saved_at\":{},"
                              "\"trials\":{}}}",
                              stored.score,
                              stored.skipRatio,
                              jsonString(stored.decoder),
                              stored.savedAt,
                              stored.trials);
}

/// Stored sets are our own making: all but the task's name and the fit is a matter of our code.
Result<void> checkStorable(const std::string& task, const StoredSkipSet& stored, int layerCount) {
    ENGINE_CHECK(std::isfinite(stored.score) && stored.skipRatio >= 0.0 &&
                     stored.skipRatio <= 1.0 && stored.trials >= 0 &&
                     stored.decoder.size() <= kMaxNameBytes,
                 "score {}, skip ratio {}, {} trials",
                 stored.score,
                 stored.skipRatio,
                 stored.trials);
    if (!isValidUtf8(task) || task.size() > kMaxNameBytes)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("\"{}\" cannot name a task: a name is UTF-8 of at most {} bytes",
                                 readable(task),
                                 kMaxNameBytes),
                     "Choose another name."};
    if (auto plan = planOf(stored.set, layerCount); !plan)
        return std::move(plan).error();
    return {};
}

} // namespace

Result<SkipSetLibrary> readSkipSetLibrary(const std::filesystem::path& path, int layerCount) {
    ENGINE_TRY(const JsonDocument document, readDataFile(path, kLimits));
    return MemoryReader(path.string(), layerCount).read(document.root());
}

SkipSetMemory::SkipSetMemory(std::filesystem::path folder,
                             std::string modelFingerprint,
                             int layerCount)
    : m_folder(std::move(folder))
    , m_fingerprint(std::move(modelFingerprint))
    , m_path(modelDataFile(m_folder, "skip-sets", m_fingerprint, ".json"))
    , m_layerCount(layerCount) {
    ENGINE_CHECK(layerCount > 0, "a model of {} layers", layerCount);
}

Result<SkipSetLibrary> SkipSetMemory::all() const {
    auto library = readSkipSetLibrary(m_path, m_layerCount);
    if (!library && library.error().code == ErrorCode::NotFound)
        return SkipSetLibrary();
    return library;
}

Result<std::optional<StoredSkipSet>> SkipSetMemory::find(const std::string& task) const {
    ENGINE_TRY(const SkipSetLibrary library, all());
    if (const auto found = library.sets.find(task); found != library.sets.end())
        return std::optional(found->second);
    for (const auto& [name, error] : library.unusable)
        if (name == task)
            return error;
    return std::optional<StoredSkipSet>();
}

Result<std::optional<StoredSkipSet>> SkipSetMemory::last() const {
    ENGINE_TRY(const SkipSetLibrary library, all());
    const SkipSetsByTask& sets = library.sets;
    const auto newest =
        std::max_element(sets.begin(), sets.end(), [](const auto& a, const auto& b) {
            return std::pair(a.second.savedAt, a.second.score) <
                   std::pair(b.second.savedAt, b.second.score);
        });
    if (newest == sets.end())
        return std::optional<StoredSkipSet>();
    return std::optional(newest->second);
}

/// The same limits hold as for reading: what is written can be read again.
Result<std::string> SkipSetMemory::toJson(const SkipSetsByTask& sets) const {
    std::string text =
        fmt::format("{{\n\"format\": {},\n\"layers\": {},\n\"tasks\": {{", kFormat, m_layerCount);
    std::size_t values = 8;
    bool isFirst = true;
    for (const auto& [task, stored] : sets) {
        text +=
            fmt::format("{} {}: {}", isFirst ? "\n" : ",\n", jsonString(task), entryJson(stored));
        values += 8 + stored.set.attention.size() + stored.set.mlp.size();
        isFirst = false;
    }
    text += "\n}\n}\n";
    if (sets.size() > kMaxTasks || text.size() > kLimits.maxBytes || values > kLimits.maxNodes)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("the memory of skip sets in {} is full", m_path.string()),
                     "Move the file away to start anew."};
    return text;
}

Result<std::string> SkipSetMemory::store(const std::string& task, const StoredSkipSet& stored) {
    return store({{task, stored}});
}

Result<std::string> SkipSetMemory::store(const SkipSetsByTask& fresh) {
    for (const auto& [task, stored] : fresh)
        ENGINE_TRY_DO(checkStorable(task, stored, m_layerCount));
    Result<SkipSetLibrary> known = all();
    const bool isBroken = !known && (known.error().code == ErrorCode::CorruptFile ||
                                     known.error().code == ErrorCode::Unsupported);
    if (!known && !isBroken)
        return std::move(known).error();
    std::optional<Error> problem;
    if (isBroken)
        problem = known.error();
    else if (!known.value().unusable.empty())
        problem = known.value().unusable.front().second;
    SkipSetsByTask sets = fresh;
    if (known)
        sets.merge(known.value().sets); // what is there already is older
    ENGINE_TRY(const std::string text, toJson(sets));
    std::string note;
    if (problem) {
        ENGINE_TRY(note, setDataFileAside(m_path, *problem));
        if (!isBroken)
            note += " It begins with the sets that could be used.";
    }
    ENGINE_TRY_DO(storeDataFile(m_path, text));
    return note;
}

} // namespace engine
