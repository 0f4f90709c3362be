// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/trainer_torch/checks/trainer_checks.h"

namespace trainer_torch {

// The parts of TrainerChecks for recipes that change the model.

WideArrays checkedStart(const engine::ModelTrainerPlan& plan, const engine::ModelNumbers& model);

CheckedRecipeLoss checkRecipeLoss(const CheckedModel& model,
                                  std::span<const engine::TrainingText> texts,
                                  std::int64_t step,
                                  bool hasGradients);

std::vector<double> checkModelLogits(const CheckedModel& model,
                                     std::span<const engine::TokenId> tokens,
                                     int layers,
                                     bool isWide);

} // namespace trainer_torch
