// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/recipe/recipe.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace engine {

/// A model of a run.
struct RunModel {
    std::string name = {}; ///< of its file or folder
    std::string path = {}; ///< empty = the default model
    bool isPlanted = false;
    std::string identity = {}; ///< modelFingerprint()
    std::string adapter = {};  ///< sum of the draft adapter that auto and tuned use; empty: none
    double parameters = 0.0;   ///< count
    int layers = 0;
};

/// A variant as it runs: no setting has several values.
struct RunVariant {
    std::string name; ///< "swift gamma=16"; with several models "swift@MODEL"
    std::string base; ///< the recipe's variant: "swift"
    std::string stage;
    std::string decoder;                         ///< empty for a search
    std::map<std::string, std::string> settings; ///< as typed
    std::optional<RecipeSearch> search = {};
    std::string setFrom = {}; ///< name of a variant of an earlier stage; empty = none
    std::string setTask = {}; ///< "own" or a task's name
    bool isNamedOwn = false;  ///< `setTask` is the name of a task that is called "own"
    int model = 0;            ///< index into RunPlan::models

    /// Whether it drafts with the set of the task at hand.
    bool usesOwnSet() const { return setTask == "own" && !isNamedOwn; }
};

/// A part of a run that is independent of all others of its stage.
struct PlannedShard {
    int index = 0; ///< from 0: also its place in RunPlan::shards
    std::string stage;
    std::vector<std::string> variants; ///< in their order; vanilla is one of them, if it runs
    std::optional<std::string> task;   ///< none: prompts of several tasks
    std::vector<int> prompts;          ///< lines of data.jsonl, from 0
    std::uint64_t seed = 0;
    int model = 0; ///< index into RunPlan::models

    bool operator==(const PlannedShard&) const = default;
};

struct RunPlan {
    std::string runHash; ///< over recipe, data, models and seed: equal hash, equal tokens
    std::vector<RunModel> models;
    std::string buildId;
    std::string createdUtc;           ///< ISO 8601
    std::vector<RunVariant> variants; ///< without vanilla
    std::vector<PlannedShard> shards; ///< those of a stage behind all of the stages before

    /// Null if there is none of this name.
    const RunVariant* variant(const std::string& name) const;

    /// The shards whose sets this shard drafts with: they must be finished before it begins.
    std::vector<int> needs(const PlannedShard& shard) const;
};

/// The answers that a shard gives to the prompt at this place of it: one for each variant and pass,
/// and vanilla's at the end of a block; 0 for searches.
long answersTo(const Recipe& recipe,
               const RunPlan& plan,
               const PlannedShard& shard,
               std::size_t place);

/// Of all its prompts.
long answersOf(const Recipe& recipe, const RunPlan& plan, const PlannedShard& shard);

/// Splits a recipe of one size into shards. `tasks` has the task of each prompt, in the order in
/// which prompts are asked; the prompts that are used are those of the returned shards. Errors:
/// InvalidInput for a task that the data does not have, too few prompts for the stages, too few
/// models, and more than 10,000 variants, 100,000 shards or 200 MB of them in the plan's file.
Result<RunPlan>
planRun(const Recipe& recipe, std::span<const std::string> tasks, std::vector<RunModel> models);

/// Numbers the prompts anew so that only those of the shards are left, in their order. Returns
/// which they are: [new number] old number.
std::vector<int> keepUsedPrompts(RunPlan& plan);

/// With which the JSON of every plan begins.
std::string planBeginning();

/// The plan as JSON, and back. Errors: CorruptFile naming the member.
std::string planJson(const RunPlan& plan);
Result<RunPlan> readPlan(std::string_view text, const std::string& where);

} // namespace engine
