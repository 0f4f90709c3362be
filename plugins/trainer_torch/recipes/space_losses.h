// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/trainer_torch/recipes/recipe_losses.h"

namespace trainer_torch {

/// runRecipe() for SPACE: the mean over all rows that have a label, see spaceRows(), of the
/// cross-entropy; of rows that are no masks, where the plan is soft, of the divergence from what
/// the untouched model said.
RecipeLosses runSpace(const RecipeWork& work,
                      std::span<const engine::TrainingText> texts,
                      std::int64_t step,
                      bool hasGradients);

/// judgeRecipe() for SPACE: what groups of masks foretell.
engine::DraftHits judgeSpace(const RecipeWork& work, const engine::TrainingText& text);

} // namespace trainer_torch
