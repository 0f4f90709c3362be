// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/tuning/tuning_choice.h"

namespace ui {

/// Where a copy of this model is made unless the user chooses another place: in `folder`, named by
/// model and recipe. Empty where there is no model or no folder.
QString usualOutput(const QString& folder, const TuningModel& model, TuningRecipe recipe);

/// Why no copy of this model can be written there, as a sentence with what to do; empty if it can.
/// Folders of other files, and other copies, are never replaced. `replaced`: the folder whose work
/// gives way to a new training, see TuningSession::replacedOutput(). Asks the disk.
QString outputProblem(const QString& output,
                      const TuningModel& model,
                      TuningRecipe recipe,
                      const QString& replaced = {});

} // namespace ui
