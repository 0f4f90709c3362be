// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/recipe/recipe.h"
#include "engine/experiments/run/run_plan.h"
#include "engine/experiments/run/shard_result.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

/// A variant as the report names it.
struct ReportVariant {
    std::string name;  ///< as in the shards
    std::string label; ///< "SWIFT, gamma 16"
    bool isVanilla = false;
    const RunVariant* planned = nullptr; ///< null for vanilla
};

/// Where something was measured.
struct RunPlace {
    const ReportVariant* variant = nullptr;
    const PlannedShard* shard = nullptr;
    double parameters = 0.0; ///< of the shard's model
    std::string model = {};  ///< its name, if the run has several
    std::string task;
    int prompt = 0;
    std::uint64_t seed = 0;
    double at = 0.0; ///< seconds since the shard began
};

/// All answers that a variant gave to one prompt in one shard with one seed, and those that vanilla
/// gave to it there.
struct AnsweredPrompt {
    RunPlace place;
    std::vector<const ShardAnswer*> own;
    std::vector<const ShardAnswer*> vanilla; ///< empty without a baseline
    std::vector<const ShardDraw*> draws = {};
    std::vector<const ShardDraw*> vanillaDraws = {}; ///< of any stage that samples alike
    std::optional<double> vanillaMoved = {}; ///< within the prompt's block, see baseline_blocks.h
};

struct TrialRun {
    RunPlace place;
    const ShardTrial* trial = nullptr;
};

struct PlanRun {
    RunPlace place;
    const ShardPlan* plan = nullptr;
};

struct RoundRun {
    RunPlace place;
    const ShardRound* round = nullptr;
    int index = 0; ///< in its answer, from 1
};

/// What belongs to one cell or point.
struct Selection {
    std::vector<const AnsweredPrompt*> runs;
    std::vector<const TrialRun*> trials;
    std::vector<const PlanRun*> plans;
    std::vector<const RoundRun*> rounds = {};  ///< of first passes, if the run has kept them
    std::vector<const TrialRun*> sources = {}; ///< of the searches that found the sets of the runs
};

/// Names a grouping and one of its groups: ("task", "story"). The groupings are "variant", "task",
/// "prompt", "seed", "base" (the variant of the recipe), "set" (the task whose set is used),
/// "parameters" and "setting:NAME"; a group that something does not have is empty.
using Filter = std::pair<std::string, std::string>;

/// The shards of a run, put together and in order. It points into `plan`. Thread: read-only.
class RunData {
public:
    RunData(const Recipe& recipe, const RunPlan& plan, std::vector<ShardResult> shards);

    RunData(const RunData&) = delete;
    RunData& operator=(const RunData&) = delete;

    const std::vector<ShardResult>& shards() const { return m_shards; }

    const RunPlan& plan() const { return m_plan; }

    /// Those that have measured something, vanilla first, in the order of the plan.
    const std::vector<std::unique_ptr<ReportVariant>>& variants() const { return m_variants; }

    /// Null if there is none of this name, nor one made of this variant of the recipe.
    const ReportVariant* variant(std::string_view name) const;

    /// The stage of a wish: its own, or the last one in which something was measured.
    std::string stageOf(const std::string& wished) const;

    /// What was measured in a stage and belongs to all of these groups. `only`: names of variants;
    /// empty = all.
    Selection select(const std::string& stage,
                     std::span<const Filter> filters,
                     std::span<const std::string> only = {}) const;

    /// The groups of a grouping that occur in a stage, in their order: variants as in variants(),
    /// tasks as in the run, numbers by size.
    std::vector<std::string> groups(const std::string& stage,
                                    const std::string& grouping,
                                    std::span<const std::string> only = {}) const;

    /// A group as people read it. No two tasks have one label: where they would, each keeps its
    /// name.
    std::string label(const std::string& grouping, const std::string& group) const;

private:
    const ReportVariant* addVariant(const std::string& name);
    void tellVariantsApart();
    std::string taskLabel(const std::string& task) const;
    void addSources(Selection& selection) const;
    void addShard(const ShardResult& shard);
    void addDraws(const ShardResult& shard, std::size_t firstRun);
    void addVanillaDraws(const Recipe& recipe);

    const RunPlan& m_plan;
    std::vector<ShardResult> m_shards;
    std::vector<std::unique_ptr<ReportVariant>> m_variants;
    std::vector<std::string> m_tasks;
    std::vector<AnsweredPrompt> m_runs;
    std::vector<TrialRun> m_trials;
    std::vector<PlanRun> m_plans;
    std::vector<RoundRun> m_rounds;
};

/// The group to which something belongs.
std::string groupOf(const RunPlace& place, const std::string& grouping);

/// "no_search" to "Without search", "self_sd gamma=16" to "Self-SD, gamma 16": names of our own, of
/// decoders as their papers write them.
std::string readableName(std::string_view name);

/// "long_context_qa" to "Long context qa". A task is named by whoever made the data, so nothing
/// else of it is changed.
std::string readableTask(std::string_view task);

/// "setting:exit_layer" to "exit layer".
std::string settingName(std::string_view grouping);

/// How far vanilla moved beside these answers: the median over prompts; none where it was not asked
/// twice.
std::optional<double> vanillaMoved(const Selection& selection);

/// Milliseconds for each token of these answers; 0 without tokens.
double msPerToken(std::span<const ShardAnswer* const> answers, bool hasPrompt = false);

} // namespace engine
