// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/curves/tune_curve_view.h"

#include "ui/plots/line_plot.h"
#include "ui/shell/figure_text.h"

#include <QVBoxLayout>

#include <algorithm>
#include <map>
#include <utility>

namespace ui {

TuneCurveView::TuneCurveView(const ViewContext& context,
                             const TuningSession& session,
                             TunePlot plot,
                             QWidget* parent)
    : TuneView(context, session, plot.info, parent)
    , m_content(std::move(plot))
    , m_plot(new LinePlot(theme(), m_content.info.title, this))
    , m_points(m_content.curves.size()) {
    for (const TuneCurve& curve : m_content.curves)
        m_plot->addSeries(curve.form);
    AxisForm steps;
    steps.title = tr("step");
    steps.tickCount = 6;
    m_plot->setXAxis(steps);
    m_plot->setYAxis(m_content.y);
    m_plot->setLeastTickText(QStringLiteral("0.0"));
    m_plot->setEmptyNote(m_content.note);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_plot);
}

void TuneCurveView::showRun() {
    constexpr qint64 kUnknownSteps = 1000;
    auto last =
        static_cast<double>(run().plannedSteps() > 0 ? run().plannedSteps() : kUnknownSteps);
    for (std::size_t i = 0; i < m_points.size(); ++i) {
        const TuneCurve& curve = m_content.curves[i];
        m_points[i] = curve.points(run());
        const int series = static_cast<int>(i);
        m_plot->setPoints(series, m_points[i]);
        if (m_points[i].empty())
            continue;
        last = std::max(last, m_points[i].back().x);
        if (curve.label)
            m_plot->setSeriesLabel(series,
                                   {curve.label(m_points[i].back().y), true, LabelSide::Beside});
    }
    m_lines = m_content.lines ? m_content.lines(session()) : std::vector<TuneLine>();
    QStringList summary{m_content.summary(run())};
    std::vector<std::vector<PlotPoint>> seen = m_points;
    std::vector<ReferenceLine> references;
    for (const TuneLine& line : m_lines) {
        seen.push_back({{0.0, line.look.value}});
        references.push_back(line.look);
        summary << tr("%1: %2.").arg(line.name, decimalText(line.look.value));
    }
    m_plot->setReferences(std::move(references));
    m_plot->setHome({0.0, last}, m_content.range(seen));
    setSubtitle(m_content.subtitle(run()));
    m_plot->setSummary(summary.join(QLatin1Char(' ')).trimmed());
    m_plot->refresh();
}

/// A row for each step of which something is known.
FigureTable TuneCurveView::table() const {
    FigureTable table;
    table.header << tr("step");
    std::map<double, QStringList> rows;
    for (std::size_t i = 0; i < m_points.size(); ++i) {
        if (m_points[i].empty()) // a line that this training does not have
            continue;
        const qsizetype before = table.header.size() - 1;
        table.header << m_content.curves[i].form.name;
        for (const PlotPoint& point : m_points[i]) {
            QStringList& row = rows[point.x];
            while (row.size() < before)
                row << QString();
            row << numberCell(point.y);
        }
    }
    for (auto& [step, cells] : rows) {
        while (cells.size() + 1 < table.header.size())
            cells << QString();
        table.rows.push_back(QStringList{numberCell(step)} + cells);
    }
    for (const TuneLine& line : m_lines) {
        table.header << line.name;
        for (QStringList& row : table.rows)
            row << numberCell(line.look.value);
    }
    return table;
}

QSize TuneCurveView::sizeHint() const { return {theme().scaled(470), theme().scaled(240)}; }

QSize TuneCurveView::minimumSizeHint() const { return {theme().scaled(250), theme().scaled(170)}; }

} // namespace ui
