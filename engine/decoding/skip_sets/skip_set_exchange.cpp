// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/skip_sets/skip_set_exchange.h"

#include "engine/loading/files/readable_text.h"
#include "engine/loading/json/json_document.h"
#include "engine/model/skip_sets/published_skip_sets.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace engine {

namespace {

constexpr JsonLimits kFileLimits = {.maxBytes = 16'000'000};

/// A set whose score nobody has measured on this machine.
StoredSkipSet unmeasured(const SkipSet& set, int layerCount, const std::string& origin) {
    const auto skipped = static_cast<double>(set.attention.size() + set.mlp.size());
    const int searched = 2 * (layerCount - 2); // the first and the last layer are not searched
    return {.set = set,
            .skipRatio = searched > 0 ? std::min(1.0, skipped / searched) : 0.0,
            .decoder = origin,
            .savedAt = static_cast<std::int64_t>(std::time(nullptr))};
}

void take(ImportedSets& imports,
          const std::string& task,
          const SkipSet& set,
          int layerCount,
          const std::string& origin) {
    if (const auto plan = planOf(set, layerCount); !plan)
        imports.leftOut.push_back(
            fmt::format("\"{}\" is left out: {}", readable(task), plan.error().message));
    else
        imports.sets.insert_or_assign(task, unmeasured(set, layerCount, origin));
}

Result<ImportedSets> fromMemory(const std::filesystem::path& path, int layerCount) {
    ENGINE_TRY(SkipSetLibrary library, readSkipSetLibrary(path, layerCount));
    ImportedSets imports{.sets = std::move(library.sets)};
    for (const auto& [task, error] : library.unusable)
        imports.leftOut.push_back(error.message + ".");
    return imports;
}

} // namespace

Result<ImportedSets> readSkipSetImport(const std::filesystem::path& path, int layerCount) {
    const std::string name = path.string();
    ENGINE_TRY(const JsonDocument document, readJsonFile(name, kFileLimits));
    const JsonValue root = document.root();
    if (isSkipSetLibrary(root))
        return fromMemory(path, layerCount);
    ImportedSets imports;
    if (root.contains("attention") || root.contains("mlp")) {
        ENGINE_TRY(const SkipSet set, readSkipSet(root, name));
        take(imports, path.stem().string(), set, layerCount, "import");
        return imports;
    }
    if (!root.isObject() || root.members().empty())
        return Error{ErrorCode::CorruptFile,
                     fmt::format("{} holds no skip sets.", name),
                     "Such a file reads {\"MODEL_TASK\":{\"attention\":[1,2],\"mlp\":[3]}}."};
    for (const auto& [key, value] : root.members()) {
        const std::string task(key);
        const auto set = readSkipSet(value, fmt::format("{}, \"{}\"", name, readable(task)));
        if (!value.isObject() || !set)
            imports.leftOut.push_back(
                set ? fmt::format("\"{}\" is left out: it is no skip set.", readable(task))
                    : set.error().message);
        else
            take(imports, task, set.value(), layerCount, "import");
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
             one.set,
             config.layerCount,
             one.origin + ", published");
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
