// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/layer_map/grid/layer_map_model.h"

#include <QRect>

#include <optional>
#include <vector>

class QPainter;

namespace ui {

/// The positions of a layer map's cells and labels in a rectangle. A plain value.
struct GridGeometry {
    /// `area` in device-independent pixels; narrow ones get the mini form: short row names, layer
    /// numbers below.
    static GridGeometry
    make(const Theme& theme, const QRect& area, int layerCount, bool hasDraftLayer = false);

    bool isMini = false;
    QRect area;
    QRect cells;
    int rowHeight = 0;
    std::vector<int> edges;     ///< [columns + 1] left edges of the columns, then the right one
    bool hasDraftLayer = false; ///< the last column is that of the layer beside the model
    QRect numbers; ///< the band of the layer numbers; no height: there is no room for it
    QRect names;   ///< the column of the rows' names

    int columnCount() const { return static_cast<int>(edges.size()) - 1; }

    int layerCount() const { return columnCount() - (hasDraftLayer ? 1 : 0); }

    QRect cell(const Cell& place) const;

    /// The map's largest and smallest height.
    static int greatestHeight(const Theme& theme, bool isMini);
    static int leastHeight(const Theme& theme);
};

/// What sets the layer beside the model off from the model's: the left part of its column.
int draftLayerGap(const Theme& theme);

/// Width of the column that names the rows, its gap included.
int rowNamesWidth(const Theme& theme, bool isMini);

/// The layers whose numbers are shown: as many as fit `labelWidth` each, always the last one and
/// the current one.
std::vector<int>
shownLayerNumbers(const GridGeometry& geometry, int labelWidth, std::optional<int> current);

/// Paints row names, counts and layer numbers, the current one bold, and a word above the layer
/// beside the model.
void paintGridLabels(QPainter& painter,
                     const GridGeometry& geometry,
                     const LayerMapModel& model,
                     const Theme& theme,
                     std::optional<int> current);

} // namespace ui
