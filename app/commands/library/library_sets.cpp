// SPDX-License-Identifier: Apache-2.0
#include "app/commands/library/library_sets.h"

#include "app/program_paths.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/json/json_document.h"
#include "engine/model/model_fingerprint.h"
#include "engine/model/skip_sets/published_skip_sets.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <system_error>

namespace app {

using namespace engine;

namespace {

constexpr JsonLimits kFileLimits = {.maxBytes = 16'000'000};

/// A set whose score nobody has measured on this machine.
StoredSkipSet imported(const SkipSet& set, int layerCount, const std::string& origin) {
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
          const ModelConfig& config,
          const std::string& origin) {
    if (const auto plan = planOf(set, config.layerCount); !plan)
        imports.leftOut.push_back(
            fmt::format("\"{}\" is left out: {}", readable(task), plan.error().message));
    else
        imports.sets.insert_or_assign(task, imported(set, config.layerCount, origin));
}

std::vector<std::string> tasksOf(const SkipSetsByTask& sets) {
    std::vector<std::string> tasks;
    for (const auto& [task, stored] : sets)
        tasks.push_back(readable(task));
    return tasks;
}

} // namespace

Result<ModelLibrary> openLibrary(const ModelOptions& options) {
    ENGINE_TRY(const ModelFiles files, openModel(options));
    ENGINE_TRY(ModelConfig config, files.config());
    ENGINE_TRY(const auto weights, files.weights());
    ENGINE_TRY(std::string fingerprint, modelFingerprint(config, *weights));
    const int layerCount = config.layerCount;
    SkipSetMemory memory(defaultDataFolder(), std::move(fingerprint), layerCount);
    TaskMemory tasks(memory);
    return ModelLibrary{std::move(config), std::move(memory), std::move(tasks)};
}

Result<NamedSet> namedSet(const ModelLibrary& library, const std::string& name) {
    ENGINE_TRY(const SkipSetLibrary known, library.memory.all());
    if (const auto found = known.sets.find(name); found != known.sets.end())
        return NamedSet{name, found->second.set};
    for (const auto& [task, error] : known.unusable)
        if (task == name)
            return error;
    std::error_code ignored;
    const int layers = library.config.layerCount;
    if (std::filesystem::exists(name, ignored)) {
        ENGINE_TRY(const LayerPlan plan, readSkipSetFile(name, layers));
        return NamedSet{name, skipSetOf(plan)};
    }
    const std::size_t colon = name.rfind(':');
    if (colon != std::string::npos && std::filesystem::exists(name.substr(0, colon), ignored)) {
        ENGINE_TRY(const LayerPlan plan,
                   readSkipSetFile(name.substr(0, colon), layers, name.substr(colon + 1)));
        return NamedSet{name, skipSetOf(plan)};
    }
    const std::vector<std::string> tasks = tasksOf(known.sets);
    return Error{ErrorCode::NotFound,
                 fmt::format("\"{}\" is neither a task in the library nor a file.", readable(name)),
                 tasks.empty()
                     ? "The library of this model holds no set yet: swift-run stream or import "
                       "fills it."
                     : fmt::format("The library holds: {}. A set in a file is written FILE or "
                                   "FILE:ENTRY.",
                                   fmt::join(tasks, ", "))};
}

Result<ImportedSets> readImport(const std::filesystem::path& path, const ModelConfig& config) {
    const std::string name = path.string();
    ENGINE_TRY(const JsonDocument document, readJsonFile(name, kFileLimits));
    const JsonValue root = document.root();
    ImportedSets imports;
    if (root.contains("attention") || root.contains("mlp")) {
        ENGINE_TRY(const SkipSet set, readSkipSet(root, name));
        take(imports, path.stem().string(), set, config, "import");
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
            take(imports, task, set.value(), config, "import");
    }
    return imports;
}

Result<ImportedSets> publishedImport(const ModelConfig& config) {
    ENGINE_TRY(const auto published,
               readPublishedSkipSets(resourceFolder() / "published_skip_sets.json"));
    ImportedSets imports;
    for (const PublishedSkipSet& one : published) {
        if (!fits(one, config))
            continue;
        const std::string task = one.name.substr(one.name.rfind('_') + 1);
        take(imports,
             imports.sets.contains(task) ? one.name : task,
             one.set,
             config,
             one.origin + ", published");
    }
    if (imports.sets.empty() && imports.leftOut.empty())
        return Error{ErrorCode::Unsupported,
                     "No skip set was published for a model of this family and size.",
                     "swift-run inspect lists what was published for a model; swift-run search "
                     "finds a set for this one."};
    return imports;
}

} // namespace app
