// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/tuning/tuning_choice.h"
#include "ui/tuning/tuning_run.h"

namespace ui {

/// What a training takes of this computer, about. 0 = not known. A plain value.
struct TuningCosts {
    double seconds = 0.0;
    bool isMeasured = false; ///< the time follows from speeds that the training has told
    qint64 memoryBytes = 0;
    qint64 diskBytes = 0;   ///< while it runs
    qint64 resultBytes = 0; ///< of the new model's folder
};

/// `run`: the training of this model and recipe that is shown; it may have told nothing. `cores`:
/// of the processor.
TuningCosts costsOf(const TuningChoice& choice, const TuningRun& run, int cores);

} // namespace ui
