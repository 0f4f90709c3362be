// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/skip_sets/skip_set_exchange.h"

#include "engine/loading/files/readable_text.h"
#include "engine/loading/json/json_document.h"
#include "engine/model/skip_sets/published_skip_sets.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <utility>

namespace engine {

namespace {

constexpr JsonLimits kFileLimits = {.maxBytes = 16'000'000};
constexpr std::size_t kLongestSource = 4096; ///< bytes of what a memory takes

/// A set whose score nobody has measured on this machine.
StoredSkipSet unmeasured(const SkipSet& set, int layerCount, const std::string& origin) {
    const auto skipped = static_cast<double>(set.attention.size() + set.mlp.size());
    const int searched = 2 * (layerCount - 2); // the first and the last layer are not searched
    return {.set = set,
            .skipRatio = searched > 0 ? std::min(1.0, skipped / searched) : 0.0,
            .decoder = origin,
            .savedAt = static_cast<std::int64_t>(std::time(nullptr))};
}

/// What an entry says of how its set was found, all of it or nothing.
void addFinding(const JsonValue& entry, StoredSkipSet& stored) {
    const auto score = entry["score"].asNumber();
    const auto skipRatio = entry["skip_ratio"].asNumber();
    const auto source = entry["decoder"].asString();
    const auto savedAt = entry["saved_at"].asInteger();
    const auto trials = entry["trials"].asInteger();
    if (!score || !std::isfinite(*score) || !skipRatio || !(*skipRatio >= 0.0) ||
        *skipRatio > 1.0 || !source || source->size() > kLongestSource || !savedAt || !trials ||
        *trials < 0 || *trials > std::numeric_limits<int>::max())
        return;
    stored.score = *score;
    stored.skipRatio = *skipRatio;
    stored.decoder = *source;
    stored.savedAt = *savedAt;
    stored.trials = static_cast<int>(*trials);
}

void take(ImportedSets& imports,
          const std::string& task,
          const StoredSkipSet& stored,
          int layerCount) {
    if (const auto plan = planOf(stored.set, layerCount); !plan)
        imports.leftOut.push_back(
            fmt::format("\"{}\" is left out: {}", readable(task), plan.error().message));
    else
        imports.sets.insert_or_assign(task, stored);
}

/// An entry of a collection. `where` begins the messages.
void takeEntry(ImportedSets& imports,
               const std::string& task,
               const JsonValue& entry,
               int layerCount,
               const std::string& where) {
    const auto set = readSkipSet(entry, where);
    if (!entry.isObject() || !set) {
        imports.leftOut.push_back(
            set ? fmt::format("\"{}\" is left out: it is no skip set.", readable(task))
                : set.error().message);
        return;
    }
    StoredSkipSet stored = unmeasured(set.value(), layerCount, "import");
    addFinding(entry, stored);
    take(imports, task, stored, layerCount);
}

/// Whom a set belongs to that says so; `model` is its name for people, or empty.
std::string foundForAnother(std::string_view what, std::string_view model, std::string_view owner) {
    return fmt::format("\"{}\" is left out: it was found for another model ({}).",
                       readable(what),
                       readable(model.empty() ? owner : model));
}

Result<ImportedSets> fromMemory(const std::filesystem::path& path,
                                int layerCount,
                                const std::string& fingerprint,
                                bool namesOthers) {
    ENGINE_TRY(SkipSetLibrary library, readSkipSetLibrary(path, layerCount));
    const std::string& owner = library.fingerprint;
    ImportedSets imports;
    if (!owner.empty() && !fingerprint.empty() && owner != fingerprint) {
        for (const auto& [task, stored] : library.sets)
            if (namesOthers)
                imports.leftOut.push_back(foundForAnother(task, library.model, owner));
        return imports;
    }
    imports.sets = std::move(library.sets);
    for (const auto& [task, error] : library.unusable)
        imports.leftOut.push_back(error.message + ".");
    return imports;
}

} // namespace

Result<ImportedSets> readSkipSetImport(const std::filesystem::path& path,
                                       int layerCount,
                                       const std::string& fingerprint,
                                       bool namesOthers) {
    const std::string name = path.string();
    ENGINE_TRY(const JsonDocument document, readJsonFile(name, kFileLimits));
    const JsonValue root = document.root();
    if (isSkipSetLibrary(root))
        return fromMemory(path, layerCount, fingerprint, namesOthers);
    ImportedSets imports;
    if (root.contains("attention") || root.contains("mlp")) {
        ENGINE_TRY(const SkipSet set, readSkipSet(root, name));
        take(imports, path.stem().string(), unmeasured(set, layerCount, "import"), layerCount);
        return imports;
    }
    if (!root.isObject() || root.members().empty())
        return Error{ErrorCode::CorruptFile,
                     fmt::format("{} holds no skip sets.", name),
                     "Such a file reads {\"MODEL_TASK\":{\"attention\":[1,2],\"mlp\":[3]}}."};
    for (const auto& [key, value] : root.members()) {
        const std::string task(value["task"].asString().value_or(key));
        const auto owner = value["fingerprint"].asString();
        const bool isOthers = owner && !fingerprint.empty() && *owner != fingerprint;
        if (!isOthers)
            takeEntry(
                imports, task, value, layerCount, fmt::format("{}, \"{}\"", name, readable(key)));
        else if (namesOthers)
            imports.leftOut.push_back(
                foundForAnother(task, value["model"].asString().value_or(""), *owner));
    }
    return imports;
}

Result<ImportedSets> publishedImport(const std::filesystem::path& path, const ModelConfig& config) {
    ENGINE_TRY(const auto published, readPublishedSkipSets(path));
    ImportedSets imports;
    for (const PublishedSkipSet& one : published) {
        if (!fits(one, config))
            continue;
        const std::string task = one.name.substr(one.name.rfind('_') + 1);
        take(imports,
             imports.sets.contains(task) ? one.name : task,
             unmeasured(one.set, config.layerCount, one.origin + ", published"),
             config.layerCount);
    }
    if (imports.sets.empty() && imports.leftOut.empty())
        return Error{ErrorCode::Unsupported,
                     "No skip set was published for a model of this family and size.",
                     "swift-run inspect lists what was published for a model; swift-run search "
                     "finds a set for this one."};
    return imports;
}

Result<std::string> skipSetExport(const SkipSetLibrary& library, SkipSetForm form) {
    if (form == SkipSetForm::Memory)
        return skipSetLibraryJson(library);
    std::map<std::string, SkipSet> sets;
    for (const auto& [task, stored] : library.sets)
        sets.emplace(task, stored.set);
    return skipSetCollectionJson(sets);
}

} // namespace engine
