// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/run/run_folder.h"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace test_support {

/// A recipe of these stages, "Own search" by its title.
inline engine::Recipe recipeOf(std::vector<engine::RecipeStage> stages) {
    engine::Recipe recipe;
    recipe.name = "own_search";
    recipe.title = "Own search";
    recipe.summary = "Searches skip sets.";
    recipe.stages = std::move(stages);
    recipe.sizes["own"] = {.promptsPerTask = {{"", 0}}, .maxTokens = 64};
    recipe.run = engine::RunOptions{.size = "own"};
    return recipe;
}

/// What a shard has measured is written by this.
using FillShard = std::function<void(const engine::PlannedShard&, engine::ShardResult&)>;

/// The folder of a run with two prompts of each task, whose shards are all finished.
inline engine::RunFolder finishedRun(const std::filesystem::path& path,
                                     const engine::Recipe& recipe,
                                     const std::vector<std::string>& tasks,
                                     const std::vector<engine::RunModel>& models,
                                     const FillShard& fill) {
    std::vector<engine::DataRecord> prompts;
    std::vector<std::string> names;
    for (const std::string& task : tasks)
        for (int i = 0; i < 2; ++i) {
            engine::DataRecord record;
            record.task = task;
            record.id = std::to_string(prompts.size());
            record.turns = {"Prompt " + record.id};
            prompts.push_back(record);
            names.push_back(task);
        }
    engine::RunPlan plan = engine::planRun(recipe, names, models).value();
    plan.runHash = engine::runHashOf(recipe, prompts, plan.models);
    auto folder = engine::RunFolder::create(path, recipe, plan, prompts, false);
    if (!folder)
        std::abort();
    for (const engine::PlannedShard& shard : plan.shards) {
        engine::ShardResult result;
        result.shard = shard.index;
        result.runHash = plan.runHash;
        result.startedUtc = "2026-01-02T03:04:05Z";
        fill(shard, result);
        if (!folder.value().finish(result))
            std::abort();
    }
    return std::move(folder).value();
}

inline engine::RunModel runModel(const std::string& name, const std::string& identity, int layers) {
    engine::RunModel model;
    model.name = name;
    model.identity = identity;
    model.layers = layers;
    return model;
}

/// A run as "Search a set for this slice" makes it, for the tasks "code" and "story": a search
/// finds a set for each, SWIFT begins with it and finds another one of a higher score. Of model
/// number N the search's sets skip the MLP of layer N + 1.
inline engine::RunFolder searchedRun(const std::filesystem::path& path,
                                     const std::vector<engine::RunModel>& models) {
    engine::RecipeVariant search;
    search.name = "set";
    search.search = engine::RecipeSearch{.method = "bayes", .trials = 30};
    engine::RecipeVariant swift;
    swift.name = "swift";
    swift.decoder = "swift";
    swift.setFrom = "set";
    engine::RecipeStage find;
    find.name = "search";
    find.variants = {search};
    find.hasBaseline = false;
    find.isTwice = false;
    engine::RecipeStage measure;
    measure.name = "measure";
    measure.variants = {swift};
    measure.reusesPrompts = true;
    const auto fill = [](const engine::PlannedShard& shard, engine::ShardResult& result) {
        const bool isSearch = shard.stage == "search";
        engine::ShardTrial trial;
        trial.variant = shard.variants.back();
        trial.task = *shard.task;
        trial.index = isSearch ? 30 : 4;
        result.trials = {trial};
        engine::ShardPlan start;
        start.variant = trial.variant;
        start.task = trial.task;
        start.attention = {3};
        start.reason = "start";
        engine::ShardPlan found = start;
        found.attention = {isSearch ? 1 : 2};
        found.mlp = {shard.model + 1};
        found.ratio = 0.25;
        found.score = isSearch ? 0.75 : 0.875;
        found.reason = isSearch ? "found" : "better";
        result.plans = {start, found};
    };
    return finishedRun(path, recipeOf({find, measure}), {"code", "story"}, models, fill);
}

} // namespace test_support
