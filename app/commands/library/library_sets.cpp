// SPDX-License-Identifier: Apache-2.0
#include "app/commands/library/library_sets.h"

#include "engine/experiments/report/found_sets.h"
#include "engine/loading/files/readable_text.h"
#include "engine/model/model_fingerprint.h"
#include "engine/session/loading/model_parts.h"

#include <fmt/ranges.h>

#include <system_error>

namespace app {

using namespace engine;

namespace {

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
    std::string name = fileFactsOf(files, *weights).name;
    SkipSetMemory memory(defaultDataFolder(), std::move(fingerprint), config.layerCount, name);
    TaskMemory tasks(memory);
    return ModelLibrary{std::move(config), std::move(name), std::move(memory), std::move(tasks)};
}

bool isOfAnotherModel(const std::filesystem::path& file,
                      const SkipSetLibrary& sets,
                      const ModelLibrary& library) {
    const std::string& own = library.memory.fingerprint();
    if (!sets.fingerprint.empty())
        return sets.fingerprint != own;
    const std::string name = file.stem().string();
    const bool isFingerprint = name.size() == own.size() &&
                               name.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (isFingerprint)
        return name != own;
    return !sets.model.empty() && sets.model != library.name;
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
                 fmt::format("\"{}\" is neither a task with a set in the library nor a file.",
                             readable(name)),
                 tasks.empty()
                     ? "The library of this model holds no set yet: swift-run stream or import "
                       "fills it."
                     : fmt::format("The library holds: {}. A set in a file is written FILE or "
                                   "FILE:ENTRY.",
                                   fmt::join(tasks, ", "))};
}

Result<ImportedSets> setsOfRun(const ModelLibrary& library, const std::filesystem::path& folder) {
    ENGINE_TRY(const RunFolder run, RunFolder::open(folder));
    ENGINE_TRY(const std::vector<FoundSkipSet> found, foundSets(run));
    if (found.empty())
        return Error{ErrorCode::NotFound,
                     fmt::format("The experiment in {} has found no skip set.", folder.string()),
                     "Let it finish, or give its searches more prompts or trials."};
    ImportedSets imports;
    for (const FoundSkipSet& each : found)
        if (each.fingerprint == library.memory.fingerprint())
            imports.sets.emplace(each.task, each.stored);
        else
            imports.leftOut.push_back(
                fmt::format("\"{}\" is left out: it was found for another model ({}).",
                            readable(each.task),
                            readable(each.model)));
    return imports;
}

} // namespace app
