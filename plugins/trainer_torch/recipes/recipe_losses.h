// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/trainer.h"
#include "plugins/trainer_torch/model/model_pass.h"

#include <span>
#include <stop_token>

namespace trainer_torch {

/// The losses of one step. `total` is what is trained; the others are for people.
struct RecipeLosses {
    double likelihood = 0.0; ///< LayerSkip: divergence from the untouched model at the last layer;
                             ///< SPACE: of rows that are no masks, or their cross-entropy
    double drafting = 0.0;   ///< cross-entropy of the exit, or of the masks
    double total = 0.0;
    std::int64_t rows = 0; ///< that count; 0: nothing is to be trained
};

/// What a recipe computes with. References are guests.
struct RecipeWork {
    const engine::ModelTrainerPlan& plan;
    const ModelNetwork& network;
    const RowMaker& rows;
    const TensorMap& trained;
    double mostKept = kKeptBytes; ///< see ModelPass
    std::stop_token stop = {};
};

/// The losses of step `step` on these texts; with gradients, they are added to those of the trained
/// tensors. All that is drawn is a function of seed, step and the text's place among the texts. It
/// ends early, without the gradients of the later texts, where a loss is not finite or the stop is
/// asked for.
RecipeLosses runRecipe(const RecipeWork& work,
                       std::span<const engine::TrainingText> texts,
                       std::int64_t step,
                       bool hasGradients);

/// Whether the next text of a step is to be computed: the losses so far are finite, and nobody has
/// asked for the stop.
bool isGoingOn(const RecipeWork& work, const RecipeLosses& losses);

/// The key of all that is drawn for one text in one step.
std::uint64_t textKey(const engine::ModelTrainerPlan& plan, std::int64_t step, std::size_t text);

/// Drafts of the recipe behind the answer rows of a text, at most kDepths tokens each.
engine::DraftHits judgeRecipe(const RecipeWork& work, const engine::TrainingText& text);

} // namespace trainer_torch
