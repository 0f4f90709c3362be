// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/recipe/recipe.h"
#include "engine/experiments/report/experiment_result.h"
#include "engine/experiments/run/run_plan.h"
#include "engine/experiments/run/shard_result.h"

#include <vector>

namespace engine {

/// Merges finished shards into the result that people read: the tables, figures and the verdict for
/// which the recipe asks. The order of the shards does not matter; shards that the plan has and
/// `shards` lacks make the result incomplete. A measure without data gives empty cells. Thread:
/// any.
ExperimentResult
analyse(const Recipe& recipe, const RunPlan& plan, std::vector<ShardResult> shards);

} // namespace engine
