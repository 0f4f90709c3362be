// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/chat/sides/side_run.h"
#include "ui/plots/figure_table.h"

namespace ui {

/// What two sides are compared for.
enum class SidesForm {
    Check, ///< vanilla and a decoder, which must write the same
    Split, ///< any two, of which the user keeps one
};

/// What came of a run, in a sentence and what it means. A plain value.
struct SideVerdict {
    enum class Kind { Running, Equal, Different, Stopped, Failed };

    Kind kind = Kind::Running;
    QString headline;
    QString cause; ///< may be empty
};

/// Of a run that has begun.
SideVerdict verdictOf(const SideRun& run, SidesForm form);

/// "1.31× vanilla · 2.32 s · 92.2 tok/s · 40 rounds · M 5.35 · 174/189 accepted (.92)".
/// `other`: compared with this one, if that has come to its end.
QString sideFigures(const engine::SideAnswer& side, const SideRun& run, SideRun::Place place);

/// All tokens of both sides.
FigureTable sidesTable(const SideRun& run);

/// What stands below them: how far the sides' probabilities agree, where there are two to compare.
QString closestCallsText(const engine::SideComparison& compared);

/// The tokens at which the model's two best ones were nearly level; rows for people.
FigureTable closestCallsTable(const std::vector<engine::CloseCall>& calls);

} // namespace ui
