// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/drawing/plot_state.h"

#include <cstdint>

class QCPGraph;
class QCustomPlot;

namespace ui {

/// Feeds the points of one series to its line: new points are added, old ones removed; only a new
/// range or a new level of the pyramid replaces all points.
class SeriesGraph {
public:
    /// The plot owns the graph.
    SeriesGraph(QCustomPlot& plot, const PlotSeries& series);

    void applyColours(const Colours& colours, bool isExport);
    void feed(PlotRange range, std::size_t largestCount);

    /// Points that the line holds now.
    int fedCount() const;

    /// All points were replaced: the next feed starts again.
    void forget() { m_level = -1; }

private:
    void feedAnew(PlotRange range, int level);
    void feedNewest(PlotRange range);

    const PlotSeries& m_series;
    QCPGraph* m_graph = nullptr;
    int m_level = -1;
    PlotRange m_range;
    std::int64_t m_fedUpTo = 0; ///< appended points
    std::size_t m_fedSize = 0;
    bool m_hasFedNewest = false;
};

} // namespace ui
