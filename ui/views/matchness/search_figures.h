// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/run_store.h"
#include "ui/plots/plot_parts.h"
#include "ui/views/matchness/strip_model.h"

#include <QString>

#include <optional>
#include <vector>

namespace ui {

/// The kinds of trials with a look of their own.
enum class TrialLook { Random, Bayesian, Start, Manual, Rescore, Other };

TrialLook trialLook(const std::string& kind);

/// How a kind of trials is named and marked wherever it is shown. A plain value.
struct TrialSign {
    QString name;
    Marker marker = Marker::None;
    ColourName colour = &Colours::muted;
};

TrialSign trialSign(TrialLook look);

/// The x axis of the search: its steps from 1, room on the left for the phase before the first one,
/// and on the right for what follows the last. A plain value.
struct SearchSpan {
    int trials = 0;
    double lead = 0.0;  ///< width on the left
    double shown = 0.0; ///< trials that the axis has room for: grows in steps
    double tail = 0.0;  ///< width on the right

    PlotRange range() const { return {-lead, shown + tail}; }
};

SearchSpan searchSpan(const SearchLog& search);

/// The phases along the axis, with the number of their trials in the names.
std::vector<PhaseBand> searchBands(const SearchLog& search, const SearchSpan& span);

/// "29 / 32 = 0.906", or the score alone where the window is unknown.
QString scoreText(const engine::TrialFinished& trial);

/// The trial whose set the views show: of the selected best set, or of the set in use. Null while
/// none was measured.
const engine::TrialFinished* shownTrial(const SearchLog& search, std::optional<int> historyIndex);

/// The newest best set at or before this place of the axis; none = the live one.
std::optional<int> historyIndexAt(const SearchLog& search, double place);

std::vector<StripCell> stripCells(const engine::TrialFinished& trial);

} // namespace ui
