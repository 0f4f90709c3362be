// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/layer_map/history/history_columns.h"

class QPainter;

namespace ui {

/// Narrower columns touch.
constexpr double kPitchWithGaps = 4.0;

/// Separates columns by lines if there is room.
void paintColumnGaps(QPainter& painter, const HistoryGeometry& geometry, const Colours& colours);

/// The cells as rectangles, for vector files.
void paintCellsAsRectangles(QPainter& painter,
                            const HistoryGeometry& geometry,
                            const std::vector<HistoryColumn>& columns,
                            const Colours& colours);

/// A marker for each column by the kind of its trial, as in the plot of matchness.
void paintMarkers(QPainter& painter,
                  const HistoryGeometry& geometry,
                  const std::vector<HistoryColumn>& columns,
                  const Theme& theme);

/// The labels at the left.
void paintHistoryNames(QPainter& painter,
                       const HistoryGeometry& geometry,
                       int layerCount,
                       const Theme& theme);

/// Search steps above and scores below: as many as fit, the current one's always, in accent.
void paintHistoryTexts(QPainter& painter,
                       const HistoryGeometry& geometry,
                       const std::vector<HistoryColumn>& columns,
                       std::optional<int> current,
                       const Theme& theme);

void paintCurrentColumn(QPainter& painter,
                        const HistoryGeometry& geometry,
                        std::optional<int> current,
                        const Colours& colours);

/// "matchness 0.906, Bayesian · 14 attention and 11 MLP sublayers skipped".
QString columnWords(const HistoryColumn& column);

} // namespace ui
