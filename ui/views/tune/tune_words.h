// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/report/experiment_result.h"
#include "ui/tuning/tuning_session.h"

namespace ui {

// What is said of a training.

/// "40 s", "9 min", "2 h 9 min".
QString timeText(double seconds);

/// "step 1,790 of 2,930", "paused", "waits while an answer streams".
QString tuningStateText(const TuningSession& session);

/// The same with the part done and the time left, for the status strip; empty if nothing is at
/// work.
QString tuningNoteText(const TuningSession& session);

/// How far the answers are, and the steps; empty before there is anything to tell.
QString collectText(const TuningRun& run);
QString trainText(const TuningRun& run);

/// How far the comparison is: "3 of 18 prompts".
QString comparisonText(const AdapterComparison& comparison);

/// Why no training can begin, or with no obstacle, an empty text.
QString obstacleText(TuningObstacle obstacle);

/// A finding in a sentence with its number, and what it means.
struct TuningFinding {
    QString headline; ///< empty: none yet
    QString cause;
    engine::VerdictKind kind = engine::VerdictKind::Finding;
};

/// What is known of the state that is kept; once it was compared, what that has shown.
TuningFinding tuningFinding(const TuningSession& session);

/// What a comparison has shown, also where it is that the adapter does not pay.
TuningFinding comparisonFinding(const ComparedPrompts& prompts);

/// The same of a copy of the model, with its quality beside its speed; null: not known.
TuningFinding copyComparisonFinding(const ComparedPrompts& prompts,
                                    TuningRecipe recipe,
                                    const TuningQuality* quality);

} // namespace ui
