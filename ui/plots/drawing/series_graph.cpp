// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/drawing/series_graph.h"

#include <qcustomplot.h>

namespace ui {

SeriesGraph::SeriesGraph(QCustomPlot& plot, const PlotSeries& series)
    : m_series(series)
    , m_graph(plot.addGraph()) {
    m_graph->setLineStyle(series.form.line == LineForm::Step ? QCPGraph::lsStepLeft
                                                             : QCPGraph::lsLine);
    m_graph->setSelectable(QCP::stNone);
    m_graph->removeFromLegend();
}

void SeriesGraph::applyColours(const Colours& colours, bool isExport) {
    QPen pen = finePen(colours.*m_series.form.colour, m_series.form.dash);
    if (isExport) {
        pen.setCosmetic(false);
        // Faint raw lines stay thin: print needs weight only where the reader should look.
        pen.setWidthF(m_series.form.isNewestMarked ? 2.0 : 1.0);
        pen.setJoinStyle(Qt::RoundJoin);
    }
    m_graph->setPen(pen);
    m_graph->setVisible(m_series.isShown && m_series.form.line != LineForm::None);
}

int SeriesGraph::fedCount() const { return m_graph->data()->size(); }

void SeriesGraph::feed(PlotRange range, std::size_t largestCount) {
    if (!m_graph->visible())
        return;
    const PointPyramid& points = m_series.points;
    const int level = points.levelFor(range, largestCount);
    const bool isUnchanged = m_level == level && m_range == range &&
                             m_fedUpTo == points.appendedCount() && m_fedSize == points.size();
    if (isUnchanged)
        return;
    const bool reachesNewest = points.isEmpty() || points.newest().x <= range.to;
    const bool canGoOn = m_level == 0 && level == 0 && m_hasFedNewest && reachesNewest &&
                         range.from >= m_range.from && m_series.form.line == LineForm::Line;
    if (canGoOn)
        feedNewest(range);
    else
        feedAnew(range, level);
    m_level = level;
    m_range = range;
    m_fedUpTo = points.appendedCount();
    m_fedSize = points.size();
    m_hasFedNewest = reachesNewest;
}

void SeriesGraph::feedNewest(PlotRange range) {
    const PointPyramid& points = m_series.points;
    const auto size = static_cast<std::int64_t>(points.size());
    const std::int64_t waiting = std::min(points.appendedCount() - m_fedUpTo, size);
    for (std::int64_t i = size - waiting; i < size; ++i) {
        const PlotPoint& point = points.at(static_cast<std::size_t>(i));
        m_graph->addData(point.x, point.y);
    }
    // One point before the range stays, so that the line comes in from the edge.
    const std::size_t first = points.lowerIndex(range.from);
    if (first > 0 && first <= points.size())
        m_graph->data()->removeBefore(points.at(first - 1).x);
    else if (!points.isEmpty())
        m_graph->data()->removeBefore(points.at(0).x);
}

void SeriesGraph::feedAnew(PlotRange range, int level) {
    const std::vector<PlotPoint> points = m_series.points.pointsIn(range, level);
    QVector<QCPGraphData> data;
    data.reserve(static_cast<int>(points.size()) + 1);
    for (const PlotPoint& point : points)
        data.append(QCPGraphData(point.x, point.y));
    // A step holds until the next one, so the newest holds up to the edge.
    if (m_series.form.line == LineForm::Step && !points.empty() && points.back().x < range.to)
        data.append(QCPGraphData(range.to, points.back().y));
    m_graph->data()->set(data, true);
}

} // namespace ui
