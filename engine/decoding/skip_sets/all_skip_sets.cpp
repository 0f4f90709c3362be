// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/skip_sets/all_skip_sets.h"

#include <algorithm>
#include <system_error>
#include <tuple>

namespace engine {

namespace {

/// FINGERPRINT.json; what was set aside and what locks have other names.
bool isMemory(const std::filesystem::path& file) {
    const std::string fingerprint = file.stem().string();
    return file.extension() == ".json" && !fingerprint.empty() &&
           fingerprint.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void addModel(AllSkipSets& all, const std::filesystem::path& file) {
    auto library = readSkipSetLibrary(file, 0);
    if (!library) {
        if (library.error().code != ErrorCode::NotFound) // removed meanwhile
            all.problems.push_back(library.error().message + ".");
        return;
    }
    const std::string& owner = library.value().fingerprint;
    if (!owner.empty() && owner != file.stem().string()) {
        all.problems.push_back(
            fmt::format("{} holds the skip sets of another model than the one it is named for.",
                        file.string()));
        return;
    }
    ModelSkipSets model{.fingerprint = file.stem().string(),
                        .model = library.value().model,
                        .layerCount = library.value().layerCount};
    for (const auto& [task, stored] : library.value().sets)
        if (model.sets.size() < AllSkipSets::kMostSets)
            model.sets.push_back({task, stored});
    for (const auto& [task, error] : library.value().unusable)
        all.problems.push_back(error.message + ".");
    if (const std::size_t left = library.value().sets.size() - model.sets.size(); left > 0)
        all.problems.push_back(
            fmt::format("{} more skip sets of {} are not listed.", left, file.string()));
    if (!model.sets.empty())
        all.models.push_back(std::move(model));
}

} // namespace

AllSkipSets readAllSkipSets(const std::filesystem::path& folder) {
    AllSkipSets all;
    std::vector<std::filesystem::path> files;
    std::error_code problem;
    std::filesystem::directory_iterator entry(folder / SkipSetMemory::kFolder, problem);
    for (; !problem && entry != std::filesystem::directory_iterator(); entry.increment(problem))
        if (isMemory(entry->path()))
            files.push_back(entry->path());
    if (problem && problem != std::errc::no_such_file_or_directory)
        all.problems.push_back(fmt::format("{} cannot be listed: {}.",
                                           (folder / SkipSetMemory::kFolder).string(),
                                           problem.message()));
    std::ranges::sort(files);
    for (const auto& file : files)
        if (all.models.size() < AllSkipSets::kMostModels)
            addModel(all, file);
    if (files.size() > AllSkipSets::kMostModels && all.models.size() == AllSkipSets::kMostModels)
        all.problems.push_back(fmt::format("The skip sets of at most {} models are listed.",
                                           AllSkipSets::kMostModels));
    std::ranges::sort(all.models, [](const ModelSkipSets& a, const ModelSkipSets& b) {
        return std::tie(a.model, a.fingerprint) < std::tie(b.model, b.fingerprint);
    });
    return all;
}

} // namespace engine
