// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/recipe/recipe.h"

#include "engine/experiments/recipe/recipe_check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace engine {

namespace {

/// Leaves out what speaks of a stage or a variant that is not there any more.
template <typename View> void keepWhole(std::vector<View>& views, const Recipe& recipe) {
    std::set<std::string> known;
    for (const RecipeStage& stage : recipe.stages)
        for (const RecipeVariant& variant : stage.variants)
            known.insert(variant.name);
    std::erase_if(views, [&](View& view) {
        const bool hadNames = !view.variants.empty();
        std::erase_if(view.variants, [&](const std::string& name) {
            return name != "vanilla" && !known.contains(name);
        });
        const bool hasStage = view.stage.empty() || recipe.stage(view.stage) != nullptr;
        return !hasStage || (hadNames && view.variants.empty());
    });
}

/// Without the variants that a size leaves out.
void chooseVariants(Recipe& recipe, RecipeSize& size) {
    if (size.variants.empty())
        return;
    for (RecipeStage& stage : recipe.stages)
        std::erase_if(stage.variants, [&](const RecipeVariant& variant) {
            return std::find(size.variants.begin(), size.variants.end(), variant.name) ==
                   size.variants.end();
        });
    std::erase_if(recipe.stages, [](const RecipeStage& stage) { return stage.variants.empty(); });
    std::erase_if(size.promptsPerTask, [&](const auto& entry) {
        return !entry.first.empty() && recipe.stage(entry.first) == nullptr;
    });
    keepWhole(recipe.tables, recipe);
    keepWhole(recipe.figures, recipe);
}

void takeOver(RecipeVariant& variant, const RecipeSize& size) {
    if (const auto settings = size.settings.find(variant.name); settings != size.settings.end())
        for (const auto& [name, values] : settings->second)
            variant.settings[name] = values;
    if (const auto trials = size.trials.find(variant.name);
        trials != size.trials.end() && variant.search)
        variant.search->trials = trials->second;
}

} // namespace

int RecipeSize::promptsFor(const std::string& stage) const {
    auto found = promptsPerTask.find(stage);
    if (found == promptsPerTask.end())
        found = promptsPerTask.find("");
    return found == promptsPerTask.end() ? 0 : found->second;
}

const RecipeStage* Recipe::stage(const std::string& wanted) const {
    const auto found = std::find_if(
        stages.begin(), stages.end(), [&](const auto& stage) { return stage.name == wanted; });
    return found == stages.end() ? nullptr : &*found;
}

Result<Recipe> recipeOfSize(const Recipe& recipe, const RunOptions& run) {
    const auto found = recipe.sizes.find(run.size);
    if (found == recipe.sizes.end()) {
        std::vector<std::string> names;
        for (const auto& [name, size] : recipe.sizes)
            names.push_back(name);
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The recipe {} has no size \"{}\".", recipe.name, run.size),
                     fmt::format("Its sizes are {}.", fmt::join(names, ", "))};
    }
    RecipeSize size = found->second;
    Recipe made = recipe;
    chooseVariants(made, size);
    for (RecipeStage& stage : made.stages)
        for (RecipeVariant& variant : stage.variants)
            takeOver(variant, size);
    size.settings.clear();
    size.trials.clear();
    size.variants.clear();
    made.sizes = {{run.size, std::move(size)}};
    made.run = run;
    ENGINE_TRY_DO(checkRecipe(made, recipe.name));
    if (const std::size_t bytes = recipeJson(made).size(); bytes > kMostRecipeBytes)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The recipe {} takes {} bytes in the folder of a run, and {} are "
                                 "the most.",
                                 recipe.name,
                                 bytes,
                                 kMostRecipeBytes),
                     "Leave out values of settings, or split it into several recipes."};
    return made;
}

} // namespace engine
