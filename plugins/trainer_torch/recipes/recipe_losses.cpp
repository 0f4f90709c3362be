// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/recipes/recipe_losses.h"

#include "engine/base/counter_random.h"
#include "plugins/trainer_torch/recipes/layerskip_losses.h"
#include "plugins/trainer_torch/recipes/space_losses.h"

#include <cmath>

namespace trainer_torch {

using namespace engine;

std::uint64_t textKey(const ModelTrainerPlan& plan, std::int64_t step, std::size_t text) {
    return counterKey(counterKey(plan.seed, static_cast<std::uint64_t>(step)), text);
}

bool isGoingOn(const RecipeWork& work, const RecipeLosses& losses) {
    return std::isfinite(losses.total) && !work.stop.stop_requested();
}

RecipeLosses runRecipe(const RecipeWork& work,
                       std::span<const TrainingText> texts,
                       std::int64_t step,
                       bool hasGradients) {
    return work.plan.recipe == TuningRecipe::Space ? runSpace(work, texts, step, hasGradients)
                                                   : runLayerSkip(work, texts, step, hasGradients);
}

DraftHits judgeRecipe(const RecipeWork& work, const TrainingText& text) {
    return work.plan.recipe == TuningRecipe::Space ? judgeSpace(work, text)
                                                   : judgeLayerSkip(work, text);
}

} // namespace trainer_torch
