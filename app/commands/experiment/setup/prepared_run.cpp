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

/// Those that a run folder's recipe brings.
std::vector<std::string> givenRunOptions(const ExperimentOptions& options) {
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
    for (const auto& [name, value] : options.model.settings)
        given.push_back("--" + name);
    return given;
}

std::vector<std::string> givenDataOptions(const DataOptions& options) {
    const DataOptions usual;
    std::vector<std::string> given;
    const auto add = [&given](bool isGiven, const char* name) {
        if (isGiven)
            given.emplace_back(name);
    };
    add(!options.paths.empty(), "--data");
    add(options.layout.prompt != usual.layout.prompt, "--text-field");
    add(options.layout.task != usual.layout.task, "--task-field");
    add(options.layout.reference != usual.layout.reference, "--reference-field");
    add(options.layout.id != usual.layout.id, "--id-field");
    add(options.layout.separator.has_value(), "--separator");
    add(!options.layout.hasHeader, "--no-header");
    add(options.limits.perFile.has_value(), "--limit");
    add(options.limits.perTask.has_value(), "--per-task");
    add(options.limits.total.has_value(), "--total");
    add(options.order.has_value(), "--order");
    add(options.seed != usual.seed, "--order-seed");
    return given;
}

void noteUnused(const ExperimentOptions& options) {
    std::vector<std::string> given = givenRunOptions(options);
    if (options.model.model.empty() && !options.model.draftAdapter.empty())
        given.emplace_back("--draft-adapter");
    if (!given.empty())
        Console::note(fmt::format("The recipe is that of a run and says itself how it is run, so "
                                  "these options are not used: {}.",
                                  fmt::join(given, ", ")));
}

/// A run folder's recipe brings its own options: size, seed, models and how they are computed. A
/// model that is named beside it counts more, with the draft adapter that is named with it.
Result<RunOptions> runOptions(const Recipe& recipe, ExperimentOptions& options) {
    if (!recipe.run) {
        RunOptions run;
        run.size = options.size;
        run.seed = options.seed;
        run.isRaw = options.isRaw;
        putModelOptions(options.model, run);
        for (const std::string& other : options.otherModels)
            run.models.push_back(other == kPlanted ? other : keptPath(other));
        return run;
    }
    noteUnused(options);
    RunOptions run = *recipe.run;
    if (!options.model.model.empty()) {
        RunOptions named;
        putModelOptions(options.model, named);
        run.models = named.models;
        run.draftAdapter = named.draftAdapter; // it belongs to the model
    }
    const std::string first = run.models.empty() ? "" : run.models.front();
    ENGINE_TRY(options.model, modelOptionsOf(run, {.path = first, .isPlanted = run.isPlanted}));
    if (run.models.size() > 1)
        options.otherModels.assign(run.models.begin() + 1, run.models.end());
    options.size = run.size;
    options.isRaw = run.isRaw;
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
    ENGINE_TRY_DO(checkDataModel(options.model, options.isRaw));
    models.push_back(std::move(first));
    for (const std::string& other : options.otherModels) {
        ModelOptions own = options.model;
        own.isPlanted = other == kPlanted;
        if (!own.isPlanted)
            own.model = other;
        ENGINE_TRY(RunModel model, describeModel(own));
        ENGINE_TRY_DO(checkDataModel(own, options.isRaw));
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
    if (!choice.order)
        choice.order = dataOrderOf(recipe.order);
    ENGINE_TRY(PromptSet read, readPrompts(choice, stop));
    std::vector<DataRecord> records;
    for (DataPrompt& prompt : read.prompts)
        records.push_back(std::move(prompt.record));
    return records;
}

} // namespace

std::vector<std::string> givenOptions(const ExperimentOptions& options) {
    std::vector<std::string> given;
    const auto add = [&given](bool isGiven, const char* name) {
        if (isGiven)
            given.emplace_back(name);
    };
    add(!options.recipe.empty(), "a recipe");
    add(!options.model.model.empty(), "--model");
    add(!options.otherModels.empty(), "--and-model");
    add(!options.model.draftAdapter.empty(), "--draft-adapter");
    add(options.prompts > 0, "--prompts");
    add(options.maxTokens > 0, "--max-tokens");
    add(options.seeds > 0, "--seeds");
    add(options.mayOverwrite, "--overwrite");
    for (const auto& more : {givenDataOptions(options.data), givenRunOptions(options)})
        given.insert(given.end(), more.begin(), more.end());
    return given;
}

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
