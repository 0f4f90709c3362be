// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/engine/experiments/report/sample_run.h"

namespace test_support {

/// Made-up results for every shard of a plan, whatever its recipe: answers of all its variants,
/// trials and sets of those that search, rounds if the recipe keeps them.
inline std::vector<engine::ShardResult> sampleShards(const engine::Recipe& recipe,
                                                     const engine::RunPlan& plan,
                                                     const std::vector<std::string>& tasks) {
    using namespace engine;
    const SampleRun numbers;
    std::vector<ShardResult> shards;
    for (const PlannedShard& planned : plan.shards) {
        ShardResult shard;
        shard.shard = planned.index;
        shard.runHash = plan.runHash;
        shard.seconds = 10.0;
        const RecipeStage* stage = recipe.stage(planned.stage);
        const RecipeSize& size = recipe.sizes.begin()->second;
        const int draws = stage ? size.drawsIn(*stage) : 0;
        const int passes = stage && stage->isTwice && !recipe.isStream ? 2 : 1;
        for (std::size_t v = 0; v < planned.variants.size(); ++v) {
            const std::string& name = planned.variants[v];
            const RunVariant* variant = plan.variant(name);
            const bool isSearch = variant && variant->search;
            const bool isSwift = variant && variant->decoder == "swift";
            for (const int prompt : planned.prompts) {
                const std::string& task = tasks.at(static_cast<std::size_t>(prompt));
                for (int i = 0; i < draws && !isSearch; ++i)
                    shard.draws.push_back({.variant = name, .prompt = prompt, .tokens = {i % 3}});
                if (passes == 1 && !variant) // again, as at the end of a block
                    shard.answers.push_back(numbers.vanillaAnswer(task, prompt, 1));
                for (int pass = 0; pass < passes && !isSearch; ++pass) {
                    SampleVariant made = {
                        name, 1.0 + 0.05 * static_cast<double>(v), 2.5, 0.8, 0.4, 1.2};
                    ShardAnswer answer = variant ? numbers.answer(made, task, prompt, pass)
                                                 : numbers.vanillaAnswer(task, prompt, pass);
                    answer.seed = planned.seed;
                    shard.answers.push_back(answer);
                    if (recipe.keepsRounds && variant)
                        shard.rounds.push_back({.variant = name,
                                                .prompt = prompt,
                                                .pass = pass,
                                                .tokens = {"a", "b"},
                                                .ranks = {1, 0},
                                                .draftSteps = 2,
                                                .draftLayers = 8.0,
                                                .accepted = 1});
                }
                if (!isSearch && !isSwift)
                    continue;
                for (int i = 1; i <= 4; ++i) {
                    const double at = prompt + 0.2 * i;
                    const double score = 0.5 + 0.1 * i;
                    shard.trials.push_back({.variant = name,
                                            .task = task,
                                            .prompt = prompt,
                                            .index = i,
                                            .kind = i < 3 ? "random" : "bayesian",
                                            .score = score,
                                            .best = score,
                                            .isBest = true,
                                            .ratio = 0.4,
                                            .at = at});
                    shard.plans.push_back({.variant = name,
                                           .task = task,
                                           .prompt = prompt,
                                           .attention = {1, i},
                                           .mlp = {2},
                                           .ratio = 0.4,
                                           .score = score,
                                           .reason = "best",
                                           .at = at});
                }
            }
        }
        shards.push_back(std::move(shard));
    }
    return shards;
}

} // namespace test_support
