// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/statistics/skip_set_memory.h"

#include "engine/base/locks/file_lock.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/json/json_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

namespace engine {

namespace {

constexpr std::int64_t kFormat = 1;
constexpr std::size_t kMaxTasks = 10'000;
constexpr std::size_t kMaxNameBytes = 4096;
constexpr int kLargestLayerCount = 10'000;
constexpr std::chrono::milliseconds kPatience{5000}; ///< with other programs; a change takes a few
constexpr JsonLimits kLimits = {
    .maxBytes = 16'000'000, .maxDepth = 8, .maxNodes = 2'000'000, .allowsTwins = true};

/// Reads one file's content; every complaint names the file and the byte.
class MemoryReader {
public:
    MemoryReader(const std::string& path, int layerCount)
        : m_path(path)
        , m_layerCount(layerCount) {}

    Result<SkipSetLibrary> read(const JsonValue& root) const {
        SkipSetLibrary library;
        ENGINE_TRY(library.layerCount, readHeader(root));
        if (const auto name = root["model"].asString(); name && name->size() <= kMaxNameBytes)
            library.model = *name;
        if (const auto owner = root["fingerprint"].asString();
            owner && owner->size() <= kMaxNameBytes)
            library.fingerprint = *owner;
        const JsonValue tasks = root["tasks"];
        if (!tasks.isObject())
            return bad("it has no list of tasks", root);
        if (tasks.size() > kMaxTasks)
            return bad(fmt::format("it names more than {} tasks", kMaxTasks), tasks);
        for (const auto& [task, value] : tasks.members()) {
            auto stored = readEntry(task, value, library.layerCount);
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

    /// The number of layers.
    Result<int> readHeader(const JsonValue& root) const {
        ENGINE_TRY_DO(checkDataFormat(m_path, root, kFormat, "memory of skip sets"));
        const auto layers = root["layers"].asInteger();
        if (m_layerCount == 0 && (!layers || *layers < 1 || *layers > kLargestLayerCount))
            return bad("it does not say for how many layers its skip sets are", root["layers"]);
        if (m_layerCount != 0 && layers != m_layerCount)
            return bad(fmt::format("its skip sets are for {} layers, but the model has {}",
                                   layers ? fmt::format("{}", *layers) : "no number of",
                                   m_layerCount),
                       root["layers"]);
        return static_cast<int>(*layers);
    }

    Result<StoredSkipSet>
    readEntry(std::string_view task, const JsonValue& value, int layerCount) const {
        if (task.size() > kMaxNameBytes)
            return bad("it names a task too long to be one", value);
        const std::string where = fmt::format("{}, task \"{}\"", m_path, readable(task));
        StoredSkipSet stored;
        ENGINE_TRY(stored.set, readSkipSet(value, where));
        if (const auto plan = planOf(stored.set, layerCount); !plan)
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

Result<void> checkAll(const SkipSetsByTask& sets, int layerCount) {
    for (const auto& [task, stored] : sets)
        ENGINE_TRY_DO(checkStorable(task, stored, layerCount));
    return {};
}

/// Locks a file, waiting for other programs for a while. Errors: Io.
Result<FileLock> lockFile(const std::filesystem::path& path) {
    ENGINE_TRY_DO(makeDataFolder(path));
    ENGINE_TRY(FileLock lock, FileLock::open(path));
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (true) {
        ENGINE_TRY(const bool isTaken, lock.tryLock());
        if (isTaken)
            return lock;
        if (std::chrono::steady_clock::now() > end)
            return Error{ErrorCode::Io,
                         fmt::format("{} is held by another program", path.string()),
                         "End that program, or try again when it is done."};
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

/// Puts a set where there is none. Errors: InvalidInput.
Result<void> insertNew(SkipSetsByTask& sets, const std::string& task, const StoredSkipSet& stored) {
    if (sets.emplace(task, stored).second)
        return {};
    return Error{ErrorCode::InvalidInput,
                 fmt::format("The task \"{}\" has a skip set already", readable(task)),
                 "Rename or delete that set first."};
}

/// Errors: NotFound.
Result<StoredSkipSet> takeOut(SkipSetsByTask& sets, const std::string& task) {
    const auto found = sets.find(task);
    if (found == sets.end())
        return Error{ErrorCode::NotFound,
                     fmt::format("There is no skip set of a task \"{}\"", readable(task)),
                     "swift-run library list shows the sets."};
    return std::move(sets.extract(found).mapped());
}

} // namespace

Result<SkipSetLibrary> readSkipSetLibrary(const std::filesystem::path& path, int layerCount) {
    ENGINE_TRY(const JsonDocument document, readDataFile(path, kLimits));
    return MemoryReader(path.string(), layerCount).read(document.root());
}

bool isSkipSetLibrary(const JsonValue& root) {
    return root["format"].asInteger().has_value() && root["tasks"].isObject();
}

/// The same limits hold as for reading: what is written can be read again.
Result<std::string> skipSetLibraryJson(const SkipSetLibrary& library) {
    std::string text =
        fmt::format("{{\n\"format\": {},\n\"layers\": {},\n", kFormat, library.layerCount);
    if (isValidUtf8(library.model) && !library.model.empty())
        text += fmt::format("\"model\": {},\n", jsonString(library.model));
    if (isValidUtf8(library.fingerprint) && !library.fingerprint.empty())
        text += fmt::format("\"fingerprint\": {},\n", jsonString(library.fingerprint));
    text += "\"tasks\": {";
    std::size_t values = 10;
    bool isFirst = true;
    for (const auto& [task, stored] : library.sets) {
        text +=
            fmt::format("{} {}: {}", isFirst ? "\n" : ",\n", jsonString(task), entryJson(stored));
        values += 8 + stored.set.attention.size() + stored.set.mlp.size();
        isFirst = false;
    }
    text += "\n}\n}\n";
    if (library.sets.size() > kMaxTasks || text.size() > kLimits.maxBytes ||
        values > kLimits.maxNodes)
        return Error{ErrorCode::InvalidInput,
                     "the memory of skip sets is full",
                     "Delete sets that you do not need."};
    return text;
}

SkipSetMemory::SkipSetMemory(std::filesystem::path folder,
                             std::string modelFingerprint,
                             int layerCount,
                             std::string modelName)
    : m_folder(std::move(folder))
    , m_fingerprint(std::move(modelFingerprint))
    , m_path(modelDataFile(m_folder, kFolder, m_fingerprint, ".json"))
    , m_layerCount(layerCount)
    , m_modelName(std::move(modelName)) {
    ENGINE_CHECK(layerCount > 0, "a model of {} layers", layerCount);
}

SkipSetMemory SkipSetMemory::readOnly() const {
    SkipSetMemory reader = *this;
    reader.m_isReadOnly = true;
    return reader;
}

Result<SkipSetLibrary> SkipSetMemory::all() const {
    auto library = readSkipSetLibrary(m_path, m_layerCount);
    if (!library && library.error().code == ErrorCode::NotFound)
        return SkipSetLibrary{.sets = {}, .fingerprint = m_fingerprint};
    if (!library)
        return library;
    std::string& owner = library.value().fingerprint;
    if (!owner.empty() && owner != m_fingerprint)
        return Error{ErrorCode::CorruptFile,
                     fmt::format("{} holds the skip sets of another model than the one it is "
                                 "named for",
                                 m_path.string()),
                     "Give the file its own name again, or remove it."};
    owner = m_fingerprint;
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

Result<std::string> SkipSetMemory::store(const std::string& task, const StoredSkipSet& stored) {
    return store({{task, stored}});
}

Result<std::string> SkipSetMemory::store(const SkipSetsByTask& fresh) {
    ENGINE_TRY(SkipSetChange changed, replace(fresh));
    return std::move(changed.note);
}

Result<SkipSetChange> SkipSetMemory::replace(const SkipSetsByTask& fresh) {
    ENGINE_TRY_DO(checkAll(fresh, m_layerCount));
    return change([&](SkipSetsByTask& sets) -> Result<void> {
        for (const auto& [task, stored] : fresh)
            sets.insert_or_assign(task, stored);
        return {};
    });
}

Result<SkipSetChange> SkipSetMemory::storeMissing(const SkipSetsByTask& offered) {
    ENGINE_TRY_DO(checkAll(offered, m_layerCount));
    std::vector<std::string> kept;
    ENGINE_TRY(SkipSetChange changed, change([&](SkipSetsByTask& sets) -> Result<void> {
                   for (const auto& [task, stored] : offered)
                       if (!sets.emplace(task, stored).second)
                           kept.push_back(task);
                   return {};
               }));
    changed.kept = std::move(kept);
    return changed;
}

Result<SkipSetChange> SkipSetMemory::exchange(const std::vector<std::string>& removed,
                                              const SkipSetsByTask& added) {
    ENGINE_TRY_DO(checkAll(added, m_layerCount));
    return change([&](SkipSetsByTask& sets) -> Result<void> {
        for (const std::string& task : removed)
            ENGINE_TRY_DO(takeOut(sets, task));
        for (const auto& [task, stored] : added)
            ENGINE_TRY_DO(insertNew(sets, task, stored));
        return {};
    });
}

Result<SkipSetChange> SkipSetMemory::rename(const std::string& from, const std::string& to) {
    return change([&](SkipSetsByTask& sets) -> Result<void> {
        ENGINE_TRY(const StoredSkipSet moved, takeOut(sets, from));
        ENGINE_TRY_DO(checkStorable(to, moved, m_layerCount));
        return insertNew(sets, to, moved);
    });
}

Result<SkipSetChange> SkipSetMemory::change(const Work& work) {
    if (m_isReadOnly)
        return SkipSetChange();
    ENGINE_TRY(const FileLock lock,
               lockFile(modelDataFile(m_folder, kFolder, m_fingerprint, ".lock")));
    Result<SkipSetLibrary> known = all();
    const bool isBroken = !known && (known.error().code == ErrorCode::CorruptFile ||
                                     known.error().code == ErrorCode::Unsupported);
    if (!known && !isBroken)
        return std::move(known).error();
    const SkipSetLibrary before = known ? std::move(known).value() : SkipSetLibrary();
    SkipSetLibrary after{.sets = before.sets,
                         .model = m_modelName.empty() ? before.model : m_modelName,
                         .layerCount = m_layerCount,
                         .fingerprint = m_fingerprint};
    ENGINE_TRY_DO(work(after.sets));
    ENGINE_TRY(const std::string text, skipSetLibraryJson(after));
    SkipSetChange changed;
    for (const auto& [task, stored] : before.sets)
        if (const auto now = after.sets.find(task);
            now == after.sets.end() || now->second != stored)
            changed.lost.emplace(task, stored);
    if (isBroken || !before.unusable.empty()) {
        ENGINE_TRY(
            changed.note,
            setDataFileAside(m_path, isBroken ? known.error() : before.unusable.front().second));
        if (!isBroken)
            changed.note += " It begins with the sets that could be used.";
    }
    ENGINE_TRY_DO(storeDataFile(m_path, text));
    return changed;
}

} // namespace engine
