// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/recording/session_records.h"
#include "ui/plots/figure_table.h"

#include <QString>

namespace ui {

/// A skip set and what it is called on the screen.
struct TitledSkipSet {
    QString title;
    engine::SkipSet set;

    bool operator==(const TitledSkipSet&) const = default;
};

/// Two sets for one model. A plain value.
struct SetComparison {
    TitledSkipSet a;
    TitledSkipSet b;
    int layerCount = 0;

    bool operator==(const SetComparison&) const = default;

    engine::SkipSetComparison numbers() const { return engine::compareSkipSets(a.set, b.set); }

    /// Sublayers that neither set skips.
    int neither() const;

    /// A line for each layer, then the names and the numbers.
    FigureTable table() const;
};

} // namespace ui
