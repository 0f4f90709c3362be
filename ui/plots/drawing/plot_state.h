// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/drawing/labels/text_cache.h"
#include "ui/plots/drawing/point_pyramid.h"
#include "ui/plots/plot_parts.h"
#include "ui/theme/theme.h"

#include <QPen>

#include <memory>
#include <vector>

namespace ui {

/// One series of a plot with its points.
struct PlotSeries {
    SeriesForm form;
    SeriesLabel label = {};
    bool isShown = true;
    PointPyramid points = {};
};

/// The point at the mouse or the keyboard's cursor, and its description.
struct PlotReadout {
    PlotPoint point;
    QString text;

    bool operator==(const PlotReadout&) const = default;
};

/// Everything that the layers of a LinePlot draw. Owned by the plot, read by its layers.
struct PlotState {
    const Theme& theme;
    std::vector<std::unique_ptr<PlotSeries>> series = {}; ///< graphs keep their addresses
    std::vector<ReferenceLine> references = {};
    std::vector<PhaseBand> bands = {};
    std::vector<double> instanceTicks = {};
    AxisForm xAxis = {};
    AxisForm yAxis = {};
    std::vector<double> xTicks = {};
    std::vector<double> yTicks = {};
    std::optional<PlotCursor> cursor = {};
    std::optional<PlotReadout> readout = {};
    double besideWidth = 0.0; ///< pixels for labels beside the plot
    bool hasFocusRing = false;
    bool isExport = false; ///< drawn for print: antialiased, markers as shapes, texts as texts
    mutable TextCache figures = {}; ///< of the axes; a cache, so layers that only read may fill it
    mutable TextCache words = {};   ///< of labels

    const Colours& colours() const { return theme.colours(); }
};

/// Pixels between the plot and the labels beside it.
inline constexpr int kBesideGap = 6;

inline constexpr int kMarkerSize = 4;             ///< pixels at 100 %: the width of a circle
inline constexpr std::size_t kMostMarkers = 4000; ///< of one series

/// One pixel of the device, whatever the scale.
inline QPen finePen(const QColor& colour, Dash dash = Dash::Solid) {
    QPen pen(colour, 1.0);
    pen.setCosmetic(true);
    pen.setCapStyle(Qt::FlatCap);
    if (dash == Dash::Dashed)
        pen.setDashPattern({5.0, 3.0});
    else if (dash == Dash::Dotted)
        pen.setDashPattern({1.0, 2.0});
    return pen;
}

} // namespace ui
