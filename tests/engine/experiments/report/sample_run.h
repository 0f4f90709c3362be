// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/analysis/analyse.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace test_support {

/// A variant of a made-up run. Costs are in vanilla steps.
struct SampleVariant {
    std::string name;
    double speedup = 1.0;
    double tokensPerRound = 1.0; ///< M
    double acceptance = 0.0;     ///< 0 = its drafts cost no pass
    double draftCost = 0.0;
    double verifyCost = 1.0;
    std::map<std::string, std::string> settings = {};
    std::string setTask = {};
    std::string stage = "main";
};

inline const SampleVariant kSwift = {"swift", 1.25, 3.2, 0.9, 0.5, 1.25};

inline engine::TableWish tableOf(const std::string& rows,
                                 std::vector<std::string> columns,
                                 std::vector<std::string> variants = {}) {
    return {.id = "main",
            .title = "Main",
            .rows = rows,
            .columns = std::move(columns),
            .variants = std::move(variants)};
}

inline engine::FigureWish
figureOf(const std::string& kind, const std::string& x, std::vector<std::string> y) {
    return {.id = "figure", .title = "Figure", .kind = kind, .x = x, .y = std::move(y)};
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// A run whose numbers are known: 64 tokens an answer, 8 ms a vanilla step, one shard for each
/// stage and task, every prompt twice.
struct SampleRun {
    engine::Recipe recipe;
    engine::RunPlan plan;
    std::vector<engine::ShardResult> shards;

    static constexpr double kPlainMs = 8.0;
    static constexpr long kTokens = 64;

    SampleRun() {
        recipe.name = "sample";
        recipe.title = "Sample";
        recipe.source = "Table 2 of arXiv 2410.06916";
        engine::RecipeStage stage;
        stage.name = "main";
        recipe.stages.push_back(stage);
        plan.runHash = "hash";
        engine::RunModel model;
        model.name = "tiny";
        model.layers = 6;
        model.parameters = 1.35e8;
        plan.models.push_back(model);
    }

    /// The speed of a variant on a prompt; a test replaces it to tell tasks apart.
    std::function<double(const SampleVariant&, const std::string& task, int prompt)> speedOf =
        [](const SampleVariant& variant, const std::string&, int) { return variant.speedup; };
    double secondPass = 1.0; ///< time of vanilla's second pass over that of its first
    std::map<std::string, double> secondPassOn = {}; ///< by task, instead of secondPass

    void add(const std::vector<std::string>& tasks,
             int promptsPerTask,
             const std::vector<SampleVariant>& variants) {
        for (const SampleVariant& variant : variants) {
            engine::RunVariant planned;
            planned.name = variant.name;
            planned.base = variant.name.substr(0, variant.name.find(' '));
            planned.stage = variant.stage;
            planned.decoder = planned.base;
            planned.settings = variant.settings;
            planned.setTask = variant.setTask;
            plan.variants.push_back(planned);
        }
        int prompt = 0;
        for (const std::string& task : tasks) {
            engine::PlannedShard planned;
            planned.index = static_cast<int>(plan.shards.size());
            planned.stage = variants.empty() ? "main" : variants.front().stage;
            planned.task = task;
            engine::ShardResult shard;
            shard.shard = planned.index;
            shard.runHash = plan.runHash;
            shard.seconds = 10.0;
            shard.machine.host = "here";
            shard.machine.processor = "2 cores";
            shard.machine.instructionSet = "AVX-512";
            shard.machine.threads = 2;
            shard.machine.memoryGiB = 23.5;
            shard.machine.roofGBs = 17.8;
            shard.machine.backend = "cpu";
            shard.machine.weights = "4-bit";
            shard.machine.buildId = "swift-run test";
            for (int i = 0; i < promptsPerTask; ++i, ++prompt) {
                planned.prompts.push_back(prompt);
                for (const int pass : {0, 1}) {
                    shard.answers.push_back(vanillaAnswer(task, prompt, pass));
                    for (const SampleVariant& variant : variants)
                        shard.answers.push_back(answer(variant, task, prompt, pass));
                }
            }
            plan.shards.push_back(planned);
            shards.push_back(shard);
        }
    }

    engine::ExperimentResult result() const { return engine::analyse(recipe, plan, shards); }

    engine::ShardAnswer vanillaAnswer(const std::string& task, int prompt, int pass) const {
        engine::ShardAnswer answer;
        answer.variant = "vanilla";
        answer.task = task;
        answer.prompt = prompt;
        answer.pass = pass;
        answer.tokens = kTokens;
        const auto own = secondPassOn.find(task);
        const double later = own == secondPassOn.end() ? secondPass : own->second;
        answer.decodeMs = kTokens * kPlainMs * (pass == 1 ? later : 1.0);
        answer.startedAt = prompt + 0.4 * pass;
        answer.decoding.baselineTokens = kTokens;
        answer.decoding.baselineMs = answer.decodeMs;
        return answer;
    }

    engine::ShardAnswer
    answer(const SampleVariant& variant, const std::string& task, int prompt, int pass) const {
        engine::ShardAnswer answer = vanillaAnswer(task, prompt, pass);
        answer.variant = variant.name;
        answer.decodeMs = kTokens * kPlainMs / speedOf(variant, task, prompt);
        answer.startedAt += 0.2;
        answer.isEqual = true;
        engine::DecodeMetrics& sums = answer.decoding;
        sums = {};
        sums.tokens = kTokens;
        sums.rounds = std::lround(kTokens / variant.tokensPerRound);
        sums.accepted = sums.tokens - sums.rounds;
        if (variant.acceptance > 0.0) {
            sums.draftSteps = std::lround(static_cast<double>(sums.accepted) / variant.acceptance);
            answer.draftRatio = 0.1;
        }
        sums.draftMs = static_cast<double>(sums.draftSteps) * variant.draftCost * kPlainMs;
        sums.draftLayers = static_cast<double>(sums.draftSteps) * 3.0;
        sums.verifyLayers = static_cast<double>(sums.rounds) * 6.0;
        sums.verifyMs = static_cast<double>(sums.rounds) * variant.verifyCost * kPlainMs;
        return answer;
    }
};

} // namespace test_support
