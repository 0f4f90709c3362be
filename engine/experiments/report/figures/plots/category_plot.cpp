// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/figures/plots/series_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

constexpr double kTitleHeight = 26.0;
constexpr double kAxisHeight = 26.0;
constexpr double kPanelGap = 24.0;
constexpr double kLeastPanel = 150.0;
constexpr double kDotRow = 40.0;    ///< of a category with one series
constexpr double kDotSubRow = 22.0; ///< of each of several series
constexpr double kBarSubRow = 20.0;
constexpr double kStackRow = 34.0;
constexpr double kStackHalf = 10.0; ///< of a stack's height
constexpr double kPaperLane = 14.0; ///< below a stack, for a paper's shares

/// ".8" and "1.05" as the figures write values: two digits.
std::string valueText(double value) {
    if (std::abs(value) >= 1000.0)
        return fmt::format("{:.0f}", value);
    return fmt::format("{:.{}f}", value, std::abs(value) >= 100.0 ? 1 : 2);
}

/// Draws one figure with categories down the left.
class CategoryPlot {
public:
    CategoryPlot(const ResultFigure& figure, const FigureCanvas& canvas, Painter& painter)
        : m_figure(figure)
        , m_canvas(canvas)
        , m_painter(painter)
        , m_scale(allValues(), 4) {
        for (const FigurePanel& panel : figure.panels) {
            for (const FigureSeries& series : panel.series) {
                if (!series.isPaper &&
                    std::find(m_series.begin(), m_series.end(), series.name) == m_series.end())
                    m_series.push_back(series.name);
            }
        }
    }

    void draw() {
        const Painter& p = m_painter;
        double y = drawLegend(m_painter, legend(), 0.0);
        const double names =
            std::min(p.widest(m_figure.x.names, p.body(true)) + p.px(14.0), p.width() * 0.34);
        const double right = p.px(18.0); // half of the last number of an axis
        const PanelGrid grid = PanelGrid::of(
            m_figure.panels.size(), p.width() - names - right, p.px(kLeastPanel), p.px(kPanelGap));
        m_rowHeight = rowHeight();
        const double frame = p.px(titleHeight() + kAxisHeight);
        const auto rows = static_cast<double>(grid.rows);
        const auto count = static_cast<double>(m_figure.x.names.size());
        if (count > 0.0) // the plots grow into the height that is there
            m_rowHeight = std::clamp((m_canvas.minHeight - y - rows * frame) / rows / count,
                                     m_rowHeight,
                                     m_rowHeight * 1.6);
        for (std::size_t i = 0; i < m_figure.panels.size(); ++i) {
            const auto column = static_cast<double>(i % static_cast<std::size_t>(grid.columns));
            if (column == 0.0 && i > 0)
                y += frame + m_rowHeight * count;
            const double x = names + column * (grid.panelWidth + p.px(kPanelGap));
            drawPanel(m_figure.panels[i], x, x + grid.panelWidth, y);
            if (column == 0.0)
                drawNames(y + p.px(titleHeight()), names);
        }
        m_painter.setHeight(y + frame + m_rowHeight * count);
    }

private:
    bool isStack() const { return m_figure.kind == FigureKind::Stack; }

    bool isBars() const { return m_figure.kind == FigureKind::Bars; }

    double titleHeight() const {
        return m_figure.panels.size() > 1 || !m_figure.panels.front().title.empty() ||
                       !m_figure.y.title.empty()
                   ? kTitleHeight
                   : 8.0;
    }

    std::vector<double> allValues() const {
        std::vector<double> values;
        if (m_figure.y.reference)
            values.push_back(*m_figure.y.reference);
        if (m_figure.kind != FigureKind::Dots)
            values.push_back(0.0);
        for (const FigurePanel& panel : m_figure.panels) {
            std::vector<double> sums(m_figure.x.names.size(), 0.0);
            for (const FigureSeries& series : panel.series) {
                for (const FigureSeries::Point& point : series.points) {
                    values.push_back(point.y.value);
                    if (point.y.low && point.y.high && !isStack()) {
                        values.push_back(*point.y.low);
                        values.push_back(*point.y.high);
                    }
                    if (!series.isPaper && point.x >= 0.0 &&
                        point.x < static_cast<double>(sums.size()))
                        sums[static_cast<std::size_t>(point.x)] += point.y.value;
                }
            }
            if (isStack())
                values.insert(values.end(), sums.begin(), sums.end());
        }
        return values;
    }

    /// Series that take turns below each other in a row; the emphasised points share the row of
    /// their name.
    double rowHeight() const {
        const auto count = static_cast<double>(std::max<std::size_t>(m_series.size(), 1));
        if (isStack())
            return m_painter.px(kStackRow + (hasPaper() ? kPaperLane : 0.0));
        if (isBars())
            return m_painter.px(count > 1.0 ? kBarSubRow * count + 12.0 : 32.0);
        return m_painter.px(count > 1.0 ? kDotSubRow * count + 10.0 : kDotRow);
    }

    std::size_t seriesIndex(const FigureSeries& series) const {
        return static_cast<std::size_t>(std::find(m_series.begin(), m_series.end(), series.name) -
                                        m_series.begin());
    }

    bool hasPaper() const {
        return std::any_of(m_figure.panels.begin(), m_figure.panels.end(), [](const auto& panel) {
            return std::any_of(panel.series.begin(), panel.series.end(), [](const auto& series) {
                return series.isPaper;
            });
        });
    }

    std::vector<LegendEntry> legend() const {
        std::vector<LegendEntry> entries;
        if (m_series.size() > 1 || isStack()) {
            for (std::size_t i = 0; i < m_series.size(); ++i)
                entries.push_back({m_series[i], [this, i](Painter& painter, DrawingPoint at) {
                                       drawSample(painter, at, i);
                                   }});
        } else if (hasPaper()) {
            entries.push_back({"here", [this](Painter& painter, DrawingPoint at) {
                                   drawSample(painter, at, 0);
                               }});
        }
        if (hasPaper())
            entries.push_back({m_figure.overlayLabel,
                               [](Painter& painter, DrawingPoint at) { painter.paperSquare(at); }});
        return entries;
    }

    void drawSample(Painter& painter, DrawingPoint at, std::size_t series) const {
        const double half = painter.px(9.0);
        if (m_figure.kind == FigureKind::Dots) {
            painter.whisker({at.x - half, at.y}, {at.x + half, at.y}, Ink::Text);
            drawSeriesMarker(painter, at, lookOf(series), Ink::Text);
            return;
        }
        drawSeriesBar(painter,
                      {at.x - half, at.y - half / 2.0},
                      {at.x + half, at.y + half / 2.0},
                      lookOf(series));
    }

    SeriesLook lookOf(std::size_t index, bool isEmphasised = false) const {
        return {index, m_series.size(), isEmphasised, isStack()};
    }

    void drawNames(double top, double width) {
        for (std::size_t i = 0; i < m_figure.x.names.size(); ++i) {
            const TextStyle style = m_painter.body(isEmphasised(i));
            m_painter.text(
                {0.0, top + (static_cast<double>(i) + 0.5) * m_rowHeight + style.size * 0.35},
                m_painter.fitted(m_figure.x.names[i], style, width - m_painter.px(8.0)),
                style,
                Ink::Text);
        }
    }

    bool isEmphasised(std::size_t category) const {
        for (const FigurePanel& panel : m_figure.panels) {
            for (const FigureSeries& series : panel.series) {
                for (const FigureSeries::Point& point : series.points) {
                    if (series.isEmphasised && point.x == static_cast<double>(category))
                        return true;
                }
            }
        }
        return false;
    }

    void drawPanel(const FigurePanel& panel, double left, double right, double top) {
        Painter& p = m_painter;
        const auto count = static_cast<double>(m_figure.x.names.size());
        const double plotTop = top + p.px(titleHeight());
        const double bottom = plotTop + m_rowHeight * count;
        const bool isLast = &panel == &m_figure.panels.back();
        if (panel.isSummary)
            p.rectangle({left - p.px(6.0), plotTop}, {right + p.px(6.0), bottom}, Ink::Shade);
        const double unit = isLast ? p.textWidth(m_figure.y.title, p.small()) : 0.0;
        const double room = right - left - (unit > 0.0 ? unit + p.px(10.0) : 0.0);
        p.text({left, plotTop - p.px(8.0)},
               p.fitted(panel.title, p.body(true), std::max(room, 0.0)),
               p.body(true),
               Ink::Text);
        if (isLast)
            p.text({right, plotTop - p.px(8.0)},
                   p.fitted(m_figure.y.title, p.small(), right - left),
                   p.small(),
                   Ink::Muted,
                   TextAnchor::End);
        m_scale.setEnds(left, right);
        m_panel = &panel;
        m_plotTop = plotTop;
        drawAxis(left, right, plotTop, bottom);
        if (isStack()) {
            drawStacks(panel, plotTop, right);
            return;
        }
        // The paper's own marks lie below ours.
        for (const bool isPaper : {true, false}) {
            for (const FigureSeries& series : panel.series) {
                if (series.isPaper == isPaper)
                    drawSeries(series, plotTop, left, right);
            }
        }
    }

    void drawAxis(double left, double right, double top, double bottom) {
        Painter& p = m_painter;
        double lastEnd = -1e9;
        for (const double tick : m_scale.ticks()) {
            const double x = m_scale.at(tick);
            p.line({{x, top}, {x, bottom}}, Ink::Grid);
            const std::string text =
                isStack() ? fmt::format("{:.0f} %", tick * 100.0) : m_scale.tickText(tick);
            const double half = p.textWidth(text, p.number()) / 2.0;
            if (x - half < lastEnd + p.px(4.0))
                continue;
            lastEnd = x + half;
            p.text({x, bottom + p.px(16.0)}, text, p.number(), Ink::Muted, TextAnchor::Middle);
        }
        p.line({{left, bottom}, {right, bottom}}, Ink::Axis);
        if (m_figure.y.reference) {
            const double x = m_scale.at(*m_figure.y.reference);
            p.line({{x, top}, {x, bottom}}, Ink::Text);
        } else if (m_figure.kind != FigureKind::Dots) {
            p.line({{m_scale.at(0.0), top}, {m_scale.at(0.0), bottom}}, Ink::Axis);
        }
    }

    double rowOf(const FigureSeries& series, double category, double top) const {
        const double middle = top + (category + 0.5) * m_rowHeight;
        if (m_series.size() < 2)
            return isBars() ? middle : middle + m_painter.px(4.0);
        if (seriesIndex(series) == m_series.size())
            return middle; // a paper's values of no single series
        const double step = m_painter.px(isBars() ? kBarSubRow : kDotSubRow);
        const auto count = static_cast<double>(m_series.size());
        return middle + (static_cast<double>(seriesIndex(series)) - (count - 1.0) / 2.0) * step;
    }

    Ink inkOf(const FigureSeries& series, double value) const {
        if (m_figure.y.reference && value < *m_figure.y.reference)
            return Ink::Warning;
        return series.isEmphasised ? Ink::Accent : Ink::Text;
    }

    void drawSeries(const FigureSeries& series, double top, double left, double right) {
        Painter& p = m_painter;
        for (const FigureSeries::Point& point : series.points) {
            const double value = point.y.value;
            if (!isDrawable(value) || !isDrawable(point.x))
                continue;
            double y = rowOf(series, point.x, top);
            const double x = m_scale.at(value);
            if (series.isPaper) {
                p.paperSquare({x, y});
                continue;
            }
            const std::size_t index = seriesIndex(series);
            double end = x;
            if (isBars()) {
                const double half = p.px(m_series.size() > 1 ? 7.0 : 8.0);
                drawSeriesBar(p,
                              {m_scale.at(0.0), y - half},
                              {x, y + half},
                              lookOf(index, series.isEmphasised));
            }
            if (point.y.low && point.y.high) {
                const Ink ink = isBars() ? Ink::Text : markInk(series);
                end = std::max(x, m_scale.at(*point.y.high));
                p.whisker({m_scale.at(*point.y.low), y}, {m_scale.at(*point.y.high), y}, ink);
            }
            if (!isBars())
                drawSeriesMarker(p, {x, y}, lookOf(index), markInk(series));
            drawValue(series, point, x, end, y, left, right);
        }
    }

    static Ink markInk(const FigureSeries& series) {
        return series.isEmphasised ? Ink::Accent : Ink::Text;
    }

    /// A place from `at` on where the number of a point covers no value of a paper.
    double behindPaper(const FigureSeries::Point& point, double at, double width, double y) const {
        for (const FigureSeries& series : m_panel->series) {
            for (const FigureSeries::Point& other : series.points) {
                const double x = m_scale.at(other.y.value);
                const double room = m_painter.px(6.0);
                if (series.isPaper && other.x == point.x &&
                    std::abs(rowOf(series, other.x, m_plotTop) - y) < room && x > at - room &&
                    x < at + width + room)
                    at = x + room + m_painter.px(2.0);
            }
        }
        return at;
    }

    /// Above a lone dot, else behind the mark; away from the line of the reference.
    void drawValue(const FigureSeries& series,
                   const FigureSeries::Point& point,
                   double x,
                   double end,
                   double y,
                   double left,
                   double right) {
        Painter& p = m_painter;
        const double value = point.y.value;
        const std::string text = valueText(value);
        const TextStyle style = p.number(series.isEmphasised);
        const double width = p.textWidth(text, style);
        const Ink ink = inkOf(series, value);
        if (isBars() || m_series.size() > 1) {
            double at = behindPaper(point, end + p.px(8.0), width, y);
            if (at + width > right + p.px(14.0))
                at = x - width - p.px(8.0); // it does not fit behind the bar
            p.haloText({at, y + style.size * 0.35}, text, style, ink, TextAnchor::Start);
            return;
        }
        double from = x - width / 2.0;
        if (m_figure.y.reference) {
            const double line = m_scale.at(*m_figure.y.reference);
            if (std::abs(x - line) < width / 2.0 + p.px(3.0))
                from = value < *m_figure.y.reference ? line - p.px(4.0) - width : line + p.px(4.0);
        }
        from = std::clamp(from, left - p.px(4.0), std::max(left, right + p.px(6.0) - width));
        p.text({from, y - p.px(9.0)}, text, style, ink);
    }

    void drawStacks(const FigurePanel& panel, double top, double right) {
        Painter& p = m_painter;
        const double half = p.px(kStackHalf);
        const double lane = hasPaper() ? p.px(kPaperLane) : 0.0;
        std::vector<double> sums(m_figure.x.names.size(), 0.0);
        // [parts][categories]; -1 where there is no such part
        std::vector<std::vector<double>> begins(m_series.size(),
                                                std::vector<double>(sums.size(), -1.0));
        for (const FigureSeries& series : panel.series) {
            if (series.isPaper)
                continue;
            for (const FigureSeries::Point& point : series.points) {
                const auto category = static_cast<std::size_t>(std::max(point.x, 0.0));
                if (category >= sums.size() || !isDrawable(point.y.value))
                    continue;
                const std::size_t part = seriesIndex(series);
                begins[part][category] = sums[category];
                if (point.y.value <= 0.0)
                    continue;
                const double y = top + (point.x + 0.5) * m_rowHeight - lane / 2.0;
                const double from = m_scale.at(sums[category]);
                sums[category] += point.y.value;
                const double to = m_scale.at(sums[category]);
                drawSeriesBar(p, {from, y - half}, {to, y + half}, lookOf(part));
                const std::string text = fmt::format("{:.0f} %", point.y.value * 100.0);
                if (p.textWidth(text, p.number()) + p.px(8.0) <= to - from) {
                    // On a hatch the share needs a ground of its own.
                    const DrawingPoint at{(from + to) / 2.0, y + p.number().size * 0.35};
                    if (part >= 2)
                        p.haloText(at,
                                   text,
                                   p.number(),
                                   partTextInk(part),
                                   TextAnchor::Middle,
                                   partInk(part));
                    else
                        p.text(at, text, p.number(), partTextInk(part), TextAnchor::Middle);
                }
            }
        }
        for (const FigureSeries& series : panel.series) {
            const std::size_t part = seriesIndex(series);
            if (!series.isPaper || part >= begins.size())
                continue;
            for (const FigureSeries::Point& point : series.points)
                drawPaperShare(series.name, point, begins[part], top, right);
        }
    }

    /// A dashed frame below each stack, from where the part begins in it: how far it would reach
    /// with the paper's share.
    void drawPaperShare(const std::string& part,
                        const FigureSeries::Point& point,
                        const std::vector<double>& begins,
                        double top,
                        double right) {
        Painter& p = m_painter;
        if (!isDrawable(point.x) || !isDrawable(point.y.value))
            return;
        const TextStyle style = p.small();
        const std::string text = fmt::format("{} {:.1f} %", part, point.y.value * 100.0);
        const double width = p.textWidth(text, style);
        for (std::size_t row = 0; row < begins.size(); ++row) {
            const auto place = static_cast<double>(row);
            if (place < point.x || place > point.until.value_or(point.x) || begins[row] < 0.0)
                continue;
            const double upper =
                top + (place + 0.5) * m_rowHeight + p.px(kStackHalf - kPaperLane / 2.0 + 2.0);
            const double lower = upper + p.px(kPaperLane - 3.0);
            const double from = m_scale.at(begins[row]);
            const double to = std::min( // it is seen, and never leaves the panel
                std::max(m_scale.at(begins[row] + point.y.value), from + p.px(2.0)),
                right);
            p.paperFrame({from, upper}, {to, lower});
            double at = width + p.px(8.0) <= to - from ? from + p.px(4.0) : to + p.px(4.0);
            if (at + width > right + p.px(14.0)) // it does not fit behind the frame
                at = std::max(from - p.px(4.0) - width, m_scale.at(0.0));
            p.haloText({at, (upper + lower) / 2.0 + style.size * 0.35},
                       text,
                       style,
                       Ink::Muted,
                       TextAnchor::Start);
        }
    }

    const ResultFigure& m_figure;
    const FigureCanvas& m_canvas;
    Painter& m_painter;
    AxisScale m_scale;
    std::vector<std::string> m_series; // names, in order
    double m_rowHeight = 0.0;
    const FigurePanel* m_panel = nullptr; // at work
    double m_plotTop = 0.0;
};

} // namespace

void drawCategories(const ResultFigure& figure, const FigureCanvas& canvas, Painter& painter) {
    CategoryPlot(figure, canvas, painter).draw();
}

} // namespace engine
