// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/run/run_folder.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace test_support {

/// A run folder with this many shards, each of one prompt. No model is there to run them.
inline engine::Result<engine::RunFolder> makeRunOf(int shards, const std::filesystem::path& path) {
    using namespace engine;
    Recipe recipe;
    recipe.name = "many";
    recipe.title = "Many";
    recipe.summary = "It has many shards.";
    recipe.stages = {{.name = "run", .variants = {{.name = "swift", .decoder = "swift"}}}};
    recipe.sizes["own"] = {.promptsPerTask = {{"", 1}}, .maxTokens = 8};
    recipe.run = RunOptions{.size = "own"};
    std::vector<DataRecord> prompts;
    std::vector<std::string> tasks;
    for (int at = 0; at < shards; ++at) {
        prompts.push_back({.task = fmt::format("task {}", at), .id = "1", .turns = {"Go on."}});
        tasks.push_back(prompts.back().task);
    }
    ENGINE_TRY(RunPlan plan, planRun(recipe, tasks, {RunModel{.name = "tiny", .identity = "1"}}));
    plan.runHash = runHashOf(recipe, prompts, plan.models);
    return RunFolder::create(path, recipe, plan, prompts, false);
}

/// Stands for swift-run: with "experiment --run-part N --out DIR" it finishes that part with an
/// empty result, and adds a line with the index of its shard to DIR/slurm/ran. Returns the exit
/// code.
inline int runEmptyShard(const std::vector<std::string>& arguments) {
    using namespace engine;
    if (arguments.size() != 5 || arguments[1] != "--run-part" || arguments[3] != "--out")
        return 2;
    const auto run = RunFolder::open(arguments[4]);
    if (!run)
        return 3;
    const int shard = std::stoi(arguments[2]) - 1;
    std::ofstream(run.value().path() / "slurm" / "ran", std::ios::app) << shard << "\n";
    ShardResult result;
    result.shard = shard;
    result.runHash = run.value().plan().runHash;
    return run.value().finish(result) ? 0 : 1;
}

} // namespace test_support
