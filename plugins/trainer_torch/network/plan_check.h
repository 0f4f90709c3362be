// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/trainer.h"

#include <span>

namespace trainer_torch {

/// Whether the plan can be carried out for this model. Errors: InvalidInput says what does not fit.
engine::Result<void> checkPlan(const engine::TrainerPlan& plan, const engine::TrainerModel& model);

/// Spans of other lengths than the text's rows, and tokens outside of the vocabulary, are a bug
/// (ENGINE_CHECK).
void checkTexts(std::span<const engine::TrainingText> texts, int hiddenSize, int vocabSize);

} // namespace trainer_torch
