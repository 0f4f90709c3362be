// SPDX-License-Identifier: Apache-2.0
#include "plugins/self_sd/plan_choice.h"

#include "engine/loading/files/readable_text.h"
#include "engine/model/skip_sets/published_skip_sets.h"
#include "engine/search/skip_space.h"

#include <fmt/ranges.h>

#include <dlfcn.h>

#include <algorithm>

namespace self_sd {

using namespace engine;

namespace {

std::string describe(const ModelConfig& config) {
    return fmt::format(
        "{} with {} layers of width {}", config.architecture, config.layerCount, config.hiddenSize);
}

ChosenPlan uniform(const PlanSettings& settings, const ModelConfig& config, std::string note) {
    if (!note.empty())
        note += fmt::format(" Drafts use the uniform set at r = {}.", settings.ratio);
    return {SkipSpace::all(config.layerCount).uniform(settings.ratio), "uniform", std::move(note)};
}

ChosenPlan stored(const PlanSettings& settings,
                  const ModelConfig& config,
                  const SkipSetMemory* memory,
                  const std::string& task) {
    if (memory == nullptr)
        return uniform(settings, config, "No skip sets are kept in this run.");
    const bool isByTask = settings.source == PlanSource::Library;
    const auto found = isByTask ? memory->find(task) : memory->last();
    if (!found)
        return uniform(settings, config, found.error().message);
    if (!found.value())
        return uniform(
            settings,
            config,
            isByTask ? fmt::format("No skip set is stored for the task \"{}\" yet.", readable(task))
                     : "No skip set is stored yet.");
    auto plan = planOf(found.value()->set, config.layerCount);
    if (!plan)
        return uniform(
            settings, config, fmt::format("Of what is stored, {}.", plan.error().message));
    return {std::move(plan).value(), isByTask ? "library" : "last"};
}

/// What can be named for this model, in words.
std::string offer(const std::vector<PublishedSkipSet>& published, const ModelConfig& config) {
    std::vector<std::string> names;
    for (const PublishedSkipSet& one : published)
        if (fits(one, config))
            names.push_back(one.name);
    if (names.empty())
        return "No published set fits this model: choose start=library, manual or uniform.";
    return fmt::format("These fit: {}.", fmt::join(names, ", "));
}

/// The set of that name; of two with the same name that of this decoder's own authors.
const PublishedSkipSet* named(const std::vector<PublishedSkipSet>& published,
                              const std::string& entry) {
    const PublishedSkipSet* found = nullptr;
    for (const PublishedSkipSet& one : published)
        if (one.name == entry && (found == nullptr || one.origin == "self_sd"))
            found = &one;
    return found;
}

Result<const PublishedSkipSet*> onlyOneThatFits(const std::vector<PublishedSkipSet>& published,
                                                const ModelConfig& config) {
    const PublishedSkipSet* found = nullptr;
    int count = 0;
    for (const PublishedSkipSet& one : published)
        if (fits(one, config)) {
            found = &one;
            ++count;
        }
    if (count == 1)
        return found;
    return Error{ErrorCode::InvalidInput,
                 fmt::format("{} published skip sets fit this model ({}), and the setting entry "
                             "names none.",
                             count == 0 ? "No" : std::to_string(count),
                             describe(config)),
                 offer(published, config)};
}

Result<ChosenPlan> publishedPlan(const std::string& entry, const ModelConfig& config) {
    ENGINE_TRY(const auto published, readPublishedSkipSets(publishedFile()));
    const PublishedSkipSet* chosen = named(published, entry);
    if (entry.empty()) {
        ENGINE_TRY(chosen, onlyOneThatFits(published, config));
    }
    if (chosen == nullptr)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("There is no published skip set \"{}\".", readable(entry)),
                     offer(published, config)};
    if (!fits(*chosen, config))
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The published skip set \"{}\" does not fit this model ({}).",
                                 chosen->name,
                                 describe(config)),
                     offer(published, config)};
    ENGINE_TRY(LayerPlan plan, planOf(chosen->set, config.layerCount));
    return ChosenPlan{std::move(plan), "published"};
}

} // namespace

Result<ChosenPlan> choosePlan(const PlanSettings& settings,
                              const ModelConfig& config,
                              const SkipSetMemory* memory,
                              const std::string& task) {
    switch (settings.source) {
    case PlanSource::Library:
    case PlanSource::Last:
        return stored(settings, config, memory, task);
    case PlanSource::Published:
        return publishedPlan(settings.entry, config);
    case PlanSource::Manual: {
        if (!settings.manualSet)
            return uniform(settings, config, "The setting skip_set is empty.");
        ENGINE_TRY(LayerPlan plan, planOf(*settings.manualSet, config.layerCount));
        return ChosenPlan{std::move(plan), "manual"};
    }
    case PlanSource::Uniform:
        return uniform(settings, config, {});
    }
    return uniform(settings, config, {});
}

/// lib/swift-studio/MODULE beside share/swift-studio, in the build and the install tree alike.
std::filesystem::path publishedFile() {
    Dl_info module{};
    const bool isKnown = dladdr(reinterpret_cast<const void*>(&publishedFile), &module) != 0 &&
                         module.dli_fname != nullptr;
    ENGINE_CHECK(isKnown, "a module that lies in no file");
    std::error_code ignored;
    const std::filesystem::path folder =
        std::filesystem::absolute(module.dli_fname, ignored).parent_path();
    return folder.parent_path().parent_path() / "share" / "swift-studio" /
           "published_skip_sets.json";
}

} // namespace self_sd
