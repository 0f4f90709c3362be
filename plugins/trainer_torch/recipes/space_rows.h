// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/trainer.h"
#include "plugins/trainer_torch/model/row_plan.h"

#include <cstdint>
#include <vector>

namespace trainer_torch {

/// What a row is to say.
struct RowLabel {
    int row = 0;
    engine::TokenId token = engine::kNoToken;
    bool isMask = false;
};

/// A text for SPACE, with its masks.
struct SpaceRows {
    RowPlan plan;
    std::vector<RowLabel> labels;
};

/// Rows of a text whose following token the model wrote, ascending.
std::vector<int> answerRows(const engine::TrainingText& text);

/// With plan.plainShare, and where the answer is too short for masks: the text alone, in which each
/// answer row is to say the token that follows. Otherwise the text up to the last of at most
/// plan.places rows drawn among those of the answer, each with a group of plan.masks masks behind
/// it: the row is to say the token that follows, t, and mask j the token j places behind t. So mask
/// 1 stands in the place of t and foretells the one behind it. What is drawn is a function of
/// `key`. Source: arXiv 2402.11809, section 3.1, where each place has a copy of the text.
SpaceRows spaceRows(const engine::TrainingText& text,
                    const engine::ModelTrainerPlan& plan,
                    std::uint64_t key);

/// The text with a group of masks behind answer rows, as many as in training but `mostMasks` at
/// most; the rows are spread over the answer, `mostPlaces` of them. Labels: the masks' alone, group
/// by group.
SpaceRows judgedRows(const engine::TrainingText& text,
                     const engine::ModelTrainerPlan& plan,
                     int mostMasks,
                     int mostPlaces);

} // namespace trainer_torch
