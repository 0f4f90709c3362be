// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/tuning_plan.h"

#include <string>
#include <vector>

namespace engine::plan_settings {

/// What --set can change for a recipe.
std::vector<SettingInfo> infos(TuningRecipe recipe);

/// Takes a value, that was checked, into the plan.
void adopt(TuningPlan& plan, const std::string& name, const SettingValue& value);

/// Of the optimiser, where none is given.
double usualRate(TuningRecipe recipe, bool isFull);

} // namespace engine::plan_settings
