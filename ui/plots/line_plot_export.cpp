// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/drawing/line_plot_drawing.h"
#include "ui/plots/line_plot.h"

#include <cmath>
#include <map>
#include <utility>

namespace ui {

FigureTable LinePlot::table() const {
    const PlotState& state = m_drawing->state;
    FigureTable table;
    table.header << (state.xAxis.title.isEmpty() ? QStringLiteral("x") : state.xAxis.title);
    // One row for each x: the series of a view mostly share theirs. Where a series has several
    // points at one x, each has a row.
    std::map<std::pair<double, int>, QStringList> rows;
    for (std::size_t i = 0; i < state.series.size(); ++i) {
        table.header << state.series[i]->form.name;
        const PointPyramid& points = state.series[i]->points;
        int before = 0; // at this x
        for (std::size_t k = 0; k < points.size(); ++k) {
            before = k > 0 && points.at(k).x == points.at(k - 1).x ? before + 1 : 0;
            QStringList& row = rows[{points.at(k).x, before}];
            row.resize(static_cast<qsizetype>(state.series.size()) + 1);
            row[0] = numberCell(points.at(k).x);
            row[static_cast<qsizetype>(i) + 1] = numberCell(points.at(k).y);
        }
    }
    table.rows.reserve(rows.size());
    for (auto& [x, row] : rows)
        table.rows.push_back(std::move(row));
    return table;
}

QSize LinePlot::pictureSize() const {
    // The child has no size of its own before it was shown.
    return {width(), height() - (m_note->isHidden() ? 0 : m_note->height())};
}

void LinePlot::drawPicture(QPaintDevice& device, QSize size) {
    Drawing& drawing = *m_drawing;
    drawing.state.isExport = true;
    drawing.plot->setNotAntialiasedElements(QCP::aeNone);
    for (SeriesGraph& graph : drawing.graphs)
        graph.applyColours(m_theme.colours(), true);
    prepare(size);
    QCPPainter painter;
    if (painter.begin(&device)) {
        drawing.plot->toPainter(&painter, size.width(), size.height());
        painter.end();
    }
    drawing.state.isExport = false;
    drawing.plot->setNotAntialiasedElements(QCP::aeAll);
    for (SeriesGraph& graph : drawing.graphs)
        graph.applyColours(m_theme.colours(), false);
    refresh(); // the drawing's layout was that of the picture
}

QSize LinePlot::sizeHint() const { return {m_theme.scaled(400), m_theme.scaled(220)}; }

QSize LinePlot::minimumSizeHint() const { return {m_theme.scaled(160), m_theme.scaled(72)}; }

} // namespace ui
