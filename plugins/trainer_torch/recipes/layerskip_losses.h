// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/trainer_torch/recipes/recipe_losses.h"

namespace trainer_torch {

/// runRecipe() for LayerSkip: each text goes around some layers; the last layer is held to what the
/// untouched model said, and the exit whose turn it is learns the text. Source: arXiv 2404.16710.
/// Differs: there, all exits that are on and the last layer learn the text.
RecipeLosses runLayerSkip(const RecipeWork& work,
                          std::span<const engine::TrainingText> texts,
                          std::int64_t step,
                          bool hasGradients);

/// judgeRecipe() for LayerSkip: chains of the exit that is judged, and the hits of all exits.
engine::DraftHits judgeLayerSkip(const RecipeWork& work, const engine::TrainingText& text);

} // namespace trainer_torch
