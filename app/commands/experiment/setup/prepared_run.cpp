// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/setup/prepared_run.h"

#include "app/commands/experiment/setup/recipe_catalogue.h"
#include "app/commands/experiment/shards/shard_model.h"
#include "app/commands/experiment/shards/shard_variants.h"
#include "app/program_paths.h"
#include "engine/base/modules/run_time_module.h"
#include "engine/base/time/utc_time.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace app {

using namespace engine;

namespace {

constexpr const char* kPlanted = "planted";

/// Names the options that were given although the recipe of a run folder brings them.
void noteUnused(const ExperimentOptions& options) {
    const ExperimentOptions usual;
    std::vector<std::string> given;
    if (options.size != usual.size)
        given.emplace_back("--size");
    if (options.seed != usual.seed)
        given.emplace_back("--seed");
    if (options.isRaw)
        given.emplace_back("--raw");
    if (options.model.isPlanted)
        given.emplace_back("--planted");
    if (!options.model.backend.empty())
        given.emplace_back("--backend");
    if (options.model.context != usual.model.context)
        given.emplace_back("--context");
    if (!options.model.draftAdapter.empty())
        given.emplace_back("--draft-adapter");
    for (const auto& [name, value] : options.model.settings)
        given.push_back("--" + name);
    if (!given.empty())
        Console::note(fmt::format("The recipe is that of a run and says itself how it is run, so "
                                  "these options are not used: {}.",
                                  fmt::join(given, ", ")));
}

/// A run folder's recipe brings its own options: size, seed, models and how they are computed. A
/// model that is named beside it counts more.
Result<RunOptions> runOptions(const Recipe& recipe, ExperimentOptions& options) {
    if (!recipe.run) {
        RunOptions run;
        run.size = options.size;
        run.seed = options.seed;
        run.isRaw = options.isRaw;
        putModelOptions(options.model, run);
        run.models.insert(run.models.end(), options.otherModels.begin(), options.otherModels.end());
        return run;
    }
    noteUnused(options);
    RunOptions run = *recipe.run;
    if (!options.model.model.empty())
        run.models = {options.model.model};
    const std::string first = run.models.empty() ? "" : run.models.front();
    ENGINE_TRY(options.model, modelOptionsOf(run, {.path = first, .isPlanted = run.isPlanted}));
    if (run.models.size() > 1)
        options.otherModels.assign(run.models.begin() + 1, run.models.end());
    options.size = run.size;
    return run;
}

/// Another amount than the recipe's sizes offer is called "own".
Result<Recipe> sized(Recipe recipe, const ExperimentOptions& options, RunOptions& run) {
    const auto found = recipe.sizes.find(options.size);
    const bool isOwn = options.prompts > 0 || options.maxTokens > 0 || options.seeds > 0;
    if (found != recipe.sizes.end() && isOwn) {
        RecipeSize size = found->second;
        if (options.prompts > 0)
            size.promptsPerTask = {{"", options.prompts}};
        if (options.maxTokens > 0)
            size.maxTokens = options.maxTokens;
        if (options.seeds > 0)
            size.seeds = options.seeds;
        recipe.sizes["own"] = std::move(size);
        run.size = "own";
    }
    return recipeOfSize(recipe, run);
}

Result<std::vector<RunModel>> describeModels(const ExperimentOptions& options) {
    std::vector<RunModel> models;
    ENGINE_TRY(RunModel first, describeModel(options.model));
    models.push_back(std::move(first));
    for (const std::string& other : options.otherModels) {
        ModelOptions own = options.model;
        own.isPlanted = other == kPlanted;
        if (!own.isPlanted)
            own.model = other;
        ENGINE_TRY(RunModel model, describeModel(own));
        const bool isTwin = std::any_of(models.begin(), models.end(), [&](const RunModel& known) {
            return known.name == model.name;
        });
        if (isTwin)
            model.name += fmt::format(" {}", models.size() + 1);
        models.push_back(std::move(model));
    }
    return models;
}

/// In the order of the recipe, unless the user chose another one.
Result<std::vector<DataRecord>>
readData(const ExperimentOptions& options, const Recipe& recipe, const std::stop_token& stop) {
    DataOptions choice = options.data;
    if (choice.order == DataOrder::AsIs && !recipe.order.empty())
        choice.order = dataOrderOf(recipe.order).value_or(DataOrder::AsIs);
    ENGINE_TRY(PromptSet read, readPrompts(choice, stop));
    std::vector<DataRecord> records;
    for (DataPrompt& prompt : read.prompts)
        records.push_back(std::move(prompt.record));
    return records;
}

} // namespace

Result<PreparedRun> prepareRun(ExperimentOptions options, const std::stop_token& stop) {
    ENGINE_TRY(Recipe asked, findRecipe(options.recipe));
    ENGINE_TRY(RunOptions run, runOptions(asked, options));
    PreparedRun made;
    ENGINE_TRY(made.recipe, sized(std::move(asked), options, run));
    ENGINE_TRY(std::vector<DataRecord> prompts, readData(options, made.recipe, stop));
    made.recipe.order.clear(); // the prompts are in it now
    std::vector<std::string> tasks;
    for (const DataRecord& prompt : prompts)
        tasks.push_back(prompt.task);
    ENGINE_TRY(std::vector<RunModel> models, describeModels(options));
    ENGINE_TRY(made.plan, planRun(made.recipe, tasks, std::move(models)));
    DecoderRegistry registry(moduleFolder());
    ENGINE_TRY_DO(checkVariants(registry, made.plan.variants));
    for (const int used : keepUsedPrompts(made.plan))
        made.prompts.push_back(std::move(prompts[static_cast<std::size_t>(used)]));
    made.plan.buildId = buildId();
    made.plan.createdUtc = utcNow();
    made.plan.runHash = runHashOf(made.recipe, made.prompts, made.plan.models);
    return made;
}

} // namespace app
