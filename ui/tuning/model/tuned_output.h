// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/tuning/tuning_choice.h"

namespace ui {

/// Where a copy of this model is made unless the user chooses another place: in `folder`, named by
/// model and recipe. Empty where there is no model or no folder.
QString usualOutput(const QString& folder, const TuningModel& model, TuningRecipe recipe);

/// Why nothing can be written there, as a sentence with what to do; empty if it can. Folders of
/// other files are never replaced. Asks the disk.
QString outputProblem(const QString& output);

} // namespace ui
