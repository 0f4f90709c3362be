// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/tuning_plan.h"

#include <string>
#include <vector>

namespace engine::plan_settings {

/// Of the profile full, and of all profiles of recipes that change the model.
inline constexpr int kStepRows = 4096;
inline constexpr int kModelStepRows = 2048;
inline constexpr int kModelValidationRows = 5000;

/// What --set can change for a recipe.
std::vector<SettingInfo> infos(TuningRecipe recipe);

/// Takes a value, that was checked, into the plan.
void adopt(TuningPlan& plan, const std::string& name, const SettingValue& value);

/// Of the optimiser, where none is given.
double usualRate(TuningRecipe recipe, bool isFull);

} // namespace engine::plan_settings
