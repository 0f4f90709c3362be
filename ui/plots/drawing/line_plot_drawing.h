// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/drawing/plot_layers.h"
#include "ui/plots/drawing/series_graph.h"
#include "ui/plots/line_plot.h"

#include <memory>
#include <vector>

namespace ui {

/// The private part of a LinePlot: its state and the widget that draws it.
struct LinePlot::Drawing {
    explicit Drawing(const Theme& theme, QWidget* parent);

    PlotSeries& at(int series) { return *state.series.at(static_cast<std::size_t>(series)); }

    const PlotSeries& at(int series) const {
        return *state.series.at(static_cast<std::size_t>(series));
    }

    PlotState state;
    std::vector<SeriesGraph> graphs = {};
    QCustomPlot* plot = nullptr; ///< a child of the LinePlot
    QCPLayer* cursorLayer = nullptr;
};

} // namespace ui
