// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/figures/painter.h"
#include "engine/experiments/report/figures/plots/line_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace engine {

namespace {

constexpr double kPlotHeight = 170.0;
constexpr double kLaneHeight = 120.0;
constexpr std::size_t kFewPoints = 16; ///< these get markers and intervals
constexpr std::size_t kFewPlaces = 8;  ///< on the x axis: each gets its number

/// The name of a line, which stands at its end.
struct EndLabel {
    std::string text;
    double pointY = 0.0;
    double y = 0.0;
    Ink ink = Ink::Text;
};

/// What a paper's line says, and where that line begins.
struct LevelLabel {
    std::string text;
    DrawingPoint from;
};

class LinePlot {
public:
    LinePlot(const ResultFigure& figure, const FigureCanvas& canvas, Painter& painter)
        : m_figure(figure)
        , m_canvas(canvas)
        , m_painter(painter)
        , m_x(valuesOfX(), 6, isLogarithmic())
        , m_hasLanes(!figure.bands.empty() || !isComparable()) {}

    void draw() {
        const Painter& p = m_painter;
        double y = drawLegend(m_painter, legend(), 0.0);
        const auto panels = static_cast<double>(m_figure.panels.size());
        double labels = 0.0;
        for (const FigurePanel& panel : m_figure.panels) {
            for (const FigureSeries& series : panel.series)
                labels = std::max(labels,
                                  series.isPaper || !hasLabels(panel)
                                      ? 0.0
                                      : p.textWidth(series.name, p.small(true)));
        }
        labels = std::min(labels, p.width() * 0.28);
        const double left = p.px(46.0);
        const double right = labels + p.px(labels > 0.0 ? 20.0 : 14.0);
        const double head = p.px(m_figure.bands.empty() ? 24.0 : 40.0);
        const double foot = p.px(42.0);
        PanelGrid grid{1, static_cast<int>(m_figure.panels.size()), p.width() - left - right};
        if (!m_hasLanes)
            grid = PanelGrid::of(m_figure.panels.size(),
                                 p.width() - left - right,
                                 p.px(220.0) + right,
                                 left + right);
        const double gap = m_hasLanes ? p.px(30.0) : head + foot;
        double height = p.px(m_hasLanes && panels > 1.0 ? kLaneHeight : kPlotHeight);
        const double used = y + head + foot + (grid.rows - 1) * gap;
        height = std::clamp((m_canvas.minHeight - used) / grid.rows, height, height * 2.0);
        y += head;
        for (std::size_t i = 0; i < m_figure.panels.size(); ++i) {
            const int column = static_cast<int>(i) % grid.columns;
            const int row = static_cast<int>(i) / grid.columns;
            const double x = left + column * (grid.panelWidth + left + right);
            const double top = y + row * (height + gap);
            const bool isLastRow = row + 1 == grid.rows || !m_hasLanes;
            drawPanel(m_figure.panels[i],
                      {x, top},
                      {x + grid.panelWidth, top + height},
                      isLastRow,
                      right,
                      row == 0);
        }
        m_painter.setHeight(y + grid.rows * height + (grid.rows - 1) * gap + foot);
    }

private:
    bool hasLabels(const FigurePanel& panel) const {
        return !isScatter() &&
               std::count_if(panel.series.begin(), panel.series.end(), [](const auto& series) {
                   return !series.isPaper;
               }) > 1;
    }

    std::vector<double> valuesOfX() const {
        std::vector<double> values;
        for (const FigurePanel& panel : m_figure.panels) {
            for (const FigureSeries& series : panel.series) {
                for (const FigureSeries::Point& point : series.points)
                    values.push_back(point.x);
            }
        }
        for (const auto& [begin, name] : m_figure.bands)
            values.push_back(begin);
        return values;
    }

    /// The few places of a sweep, ascending; empty for a stream.
    std::vector<double> places() const {
        std::vector<double> values = valuesOfX();
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        return values.size() <= kFewPlaces && !isScatter() ? values : std::vector<double>();
    }

    /// Whether a few single values lie so far apart that near ones would become one.
    bool hasFarPlaces() const {
        const std::vector<double> values = valuesOfX();
        if (values.empty() || values.size() > 2 * kFewPoints)
            return false;
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        return *least > 0.0 && *most / *least > 20.0;
    }

    /// A sweep that doubles from place to place has them at equal distances.
    bool isLogarithmic() const {
        if (isScatter())
            return hasFarPlaces();
        const std::vector<double> values = places();
        return m_figure.x.isLogarithmic ||
               (values.size() > 2 && values.front() > 0.0 && values.back() / values.front() >= 6.0);
    }

    std::vector<double> valuesOfY(const FigurePanel& panel) const {
        std::vector<double> values;
        for (const FigureSeries& series : panel.series) {
            for (const FigureSeries::Point& point : series.points) {
                values.push_back(point.y.value);
                if (series.points.size() <= kFewPoints && point.y.low && point.y.high) {
                    values.push_back(*point.y.low);
                    values.push_back(*point.y.high);
                }
            }
        }
        return values;
    }

    static double rangeOf(const std::vector<double>& values) {
        double low = 0.0;
        double high = 0.0;
        bool isFirst = true;
        for (const double value : values) {
            if (!isDrawable(value))
                continue;
            low = isFirst ? value : std::min(low, value);
            high = isFirst ? value : std::max(high, value);
            isFirst = false;
        }
        return high - low;
    }

    /// Whether one scale suits all panels.
    bool isComparable() const {
        std::vector<double> all;
        for (const FigurePanel& panel : m_figure.panels) {
            const std::vector<double> own = valuesOfY(panel);
            all.insert(all.end(), own.begin(), own.end());
        }
        return std::all_of(m_figure.panels.begin(), m_figure.panels.end(), [&](const auto& panel) {
            return rangeOf(valuesOfY(panel)) * 4.0 >= rangeOf(all);
        });
    }

    AxisScale scaleOf(const FigurePanel& panel) const {
        std::vector<double> values = valuesOfY(panel);
        if (!m_hasLanes) {
            for (const FigurePanel& other : m_figure.panels) {
                const std::vector<double> own = valuesOfY(other);
                values.insert(values.end(), own.begin(), own.end());
            }
        }
        if (const auto reference = referenceOf(panel))
            values.push_back(*reference);
        return {values, 4};
    }

    /// Vanilla's line belongs to speeds alone, and not to the acceptance in the next lane.
    std::optional<double> referenceOf(const FigurePanel& panel) const {
        return panel.reference && isDrawable(*panel.reference) ? panel.reference
                                                               : m_figure.y.reference;
    }

    /// Whether a paper's value is of no single place.
    static bool isLevel(const FigureSeries::Point& point) {
        return point.until && *point.until > point.x;
    }

    std::vector<LegendEntry> legend() const {
        if (m_figure.overlayLabel.empty())
            return {};
        bool hasSquares = false;
        bool hasLevels = false;
        for (const FigurePanel& panel : m_figure.panels) {
            for (const FigureSeries& series : panel.series) {
                for (const FigureSeries::Point& point : series.points) {
                    hasLevels |= series.isPaper && isLevel(point);
                    hasSquares |= series.isPaper && !isLevel(point);
                }
            }
        }
        return {{m_figure.overlayLabel, [hasSquares, hasLevels](Painter& painter, DrawingPoint at) {
                     const double half = painter.px(9.0);
                     if (hasLevels)
                         painter.paperLine({at.x - half, at.y}, {at.x + half, at.y});
                     if (hasSquares)
                         painter.paperSquare(at);
                 }}};
    }

    void drawPanel(const FigurePanel& panel,
                   DrawingPoint from,
                   DrawingPoint to,
                   bool hasAxis,
                   double labelRoom,
                   bool isFirstRow) {
        Painter& p = m_painter;
        AxisScale scale = scaleOf(panel);
        scale.setEnds(to.y, from.y);
        m_x.setEnds(from.x, to.x);
        drawBands(from, to, isFirstRow);
        const double titleY = from.y - p.px(m_figure.bands.empty() || !isFirstRow ? 10.0 : 26.0);
        std::string title = panel.title.empty() ? m_figure.y.title : panel.title;
        if (!title.empty() && title.front() >= 'a' && title.front() <= 'z')
            title.front() = static_cast<char>(title.front() - 'a' + 'A');
        p.text({from.x - p.px(40.0), titleY},
               p.fitted(title, p.body(true), to.x - from.x),
               p.body(true),
               Ink::Text);
        for (const double tick : scale.ticks()) {
            const double y = scale.at(tick);
            p.line({{from.x, y}, {to.x, y}}, Ink::Grid);
            p.text({from.x - p.px(6.0), y + p.px(4.0)},
                   scale.tickText(tick),
                   p.number(),
                   Ink::Muted,
                   TextAnchor::End);
        }
        if (const auto reference = referenceOf(panel)) {
            const double y = scale.at(*reference);
            p.line({{from.x, y}, {to.x, y}}, Ink::Text);
        }
        drawXAxis(from, to, hasAxis);
        m_labels.clear();
        m_levels.clear();
        m_dash = 0;
        for (const bool isPaper : {true, false}) {
            for (const FigureSeries& series : panel.series) {
                if (series.isPaper == isPaper)
                    drawSeries(series, scale);
            }
        }
        drawLevelLabels(from.y, to.x);
        if (hasLabels(panel))
            drawLabels(from.y, to, labelRoom);
    }

    void drawBands(DrawingPoint from, DrawingPoint to, bool hasNames) {
        Painter& p = m_painter;
        for (std::size_t i = 0; i < m_figure.bands.size(); ++i) {
            const auto& [begin, name] = m_figure.bands[i];
            const double x = i == 0 ? from.x : m_x.at(begin);
            const double end =
                i + 1 < m_figure.bands.size() ? m_x.at(m_figure.bands[i + 1].first) : to.x;
            if (i % 2 == 0)
                p.rectangle({x, from.y}, {end, to.y}, Ink::Shade);
            if (hasNames)
                p.text({(x + end) / 2.0, from.y - p.px(6.0)},
                       p.fitted(name, p.small(), end - x - p.px(4.0)),
                       p.small(),
                       Ink::Muted,
                       TextAnchor::Middle);
        }
    }

    void drawXAxis(DrawingPoint from, DrawingPoint to, bool hasNumbers) {
        Painter& p = m_painter;
        p.line({{from.x, to.y}, {to.x, to.y}}, Ink::Axis);
        if (!hasNumbers)
            return;
        double lastEnd = -1e9;
        const std::vector<double> ticks = ticksOfX();
        const bool areWhole = std::ranges::all_of(
            ticks, [](double tick) { return tick == std::floor(tick) && std::abs(tick) < 1e6; });
        for (const double tick : ticks) {
            const double x = m_x.at(tick);
            p.line({{x, to.y}, {x, to.y + p.px(4.0)}}, Ink::Axis);
            const std::string text = areWhole ? fmt::format("{:.0f}", tick) : m_x.tickText(tick);
            const double half = p.textWidth(text, p.number()) / 2.0;
            if (x - half < lastEnd + p.px(6.0))
                continue;
            lastEnd = x + half;
            p.text({x, to.y + p.px(17.0)}, text, p.number(), Ink::Muted, TextAnchor::Middle);
        }
        p.text({(from.x + to.x) / 2.0, to.y + p.px(34.0)},
               p.fitted(m_figure.x.title, p.small(), to.x - from.x),
               p.small(),
               Ink::Muted,
               TextAnchor::Middle);
    }

    /// Whole numbers only, where all places are whole.
    std::vector<double> ticksOfX() const {
        const std::vector<double> values = valuesOfX();
        const bool areWhole = std::all_of(values.begin(), values.end(), [](double value) {
            return value == std::floor(value) || value == std::floor(value) + 0.5;
        });
        if (const std::vector<double> few = places(); !few.empty())
            return few;
        std::vector<double> ticks = m_x.ticks();
        if (areWhole)
            std::erase_if(ticks, [](double tick) { return tick != std::floor(tick); });
        return ticks;
    }

    void drawSeries(const FigureSeries& series, const AxisScale& scale) {
        Painter& p = m_painter;
        const PlotPoints points = drawable(series.points);
        if (points.empty())
            return;
        const auto place = [&](const FigureSeries::Point& point) {
            return DrawingPoint{m_x.at(point.x), scale.at(point.y.value)};
        };
        if (series.isPaper) {
            for (const FigureSeries::Point& point : points) {
                if (isLevel(point))
                    drawLevel(series, point, scale);
                else
                    p.paperSquare(place(point));
            }
            return;
        }
        if (isScatter()) {
            drawDots(series, points, scale);
            return;
        }
        static const std::array<std::vector<double>, 4> kDashes = {
            {{}, {6.0, 3.0}, {2.0, 2.0}, {8.0, 3.0, 2.0, 3.0}}};
        const Ink ink = series.isEmphasised ? Ink::Accent
                        : m_dash % 2 == 0   ? Ink::Text
                                            : Ink::Muted;
        const std::vector<double>& dashes =
            series.isEmphasised ? kDashes[0] : kDashes[m_dash++ % kDashes.size()];
        PlotPoints line = points;
        if (isNoisy(points)) {
            for (const FigureSeries::Point& point : points)
                p.circle(place(point), 2.0, {}, Ink::Raw);
            line = smoothed(points);
        }
        std::vector<DrawingPoint> corners; // of the piece at work: a gap ends it
        const auto drawPiece = [&] {
            if (corners.size() > 1)
                p.line(corners, ink, series.isEmphasised ? 1.5 : 1.0, dashes);
            else if (corners.size() == 1 && points.size() > kFewPoints)
                p.circle(corners.front(), 1.5, ink, ink);
        };
        for (const FigureSeries::Point& point : line) {
            if (point.isBehindGap) {
                drawPiece();
                corners.clear();
            }
            corners.push_back(place(point));
        }
        drawPiece();
        if (points.size() <= kFewPoints) {
            for (const FigureSeries::Point& point : points) {
                const DrawingPoint at = place(point);
                if (point.y.low && point.y.high)
                    p.whisker({at.x, scale.at(*point.y.low)}, {at.x, scale.at(*point.y.high)}, ink);
                if (series.isEmphasised)
                    p.diamond(at, 4.5, ink, ink);
                else
                    p.circle(at, 3.0, Ink::Panel, ink);
            }
        } else if (series.isEmphasised) {
            const DrawingPoint end = corners.back();
            p.rectangle({end.x - p.px(3.5), end.y - p.px(3.5)},
                        {end.x + p.px(3.5), end.y + p.px(3.5)},
                        ink);
        }
        m_labels.push_back({series.name, corners.back().y, corners.back().y, ink});
    }

    void drawLevel(const FigureSeries& series,
                   const FigureSeries::Point& point,
                   const AxisScale& scale) {
        const double y = scale.at(point.y.value);
        const DrawingPoint from{m_x.at(point.x), y};
        m_painter.paperLine(from, {m_x.at(*point.until), y});
        const std::string name =
            series.name == m_figure.overlayLabel ? "paper" : series.name + ", paper";
        m_levels.push_back({fmt::format("{} {:.3g}", name, point.y.value), from});
    }

    /// Above their lines, or below the top of the plot; behind each other where lines are near.
    void drawLevelLabels(double top, double right) {
        Painter& p = m_painter;
        const TextStyle style = p.small();
        std::vector<DrawingPoint> ends; // of those so far
        for (const LevelLabel& label : m_levels) {
            const bool hasRoom = label.from.y - style.size - p.px(4.0) > top;
            const double y = label.from.y + (hasRoom ? -p.px(4.0) : style.size + p.px(2.0));
            double x = label.from.x + p.px(6.0);
            for (const DrawingPoint& end : ends) {
                if (std::abs(end.y - y) < style.size + p.px(2.0))
                    x = std::max(x, end.x);
            }
            const std::string text = p.fitted(label.text, style, right - x);
            if (text.empty())
                continue;
            p.haloText({x, y}, text, style, Ink::Muted, TextAnchor::Start);
            ends.push_back({x + p.textWidth(text, style) + p.px(8.0), y});
        }
    }

    bool isScatter() const { return m_figure.kind == FigureKind::Dots; }

    /// Single values, which no line joins. A lone one carries its name.
    void drawDots(const FigureSeries& series, const PlotPoints& points, const AxisScale& scale) {
        Painter& p = m_painter;
        const Ink ink = series.isEmphasised ? Ink::Accent : Ink::Text;
        for (const FigureSeries::Point& point : points) {
            const DrawingPoint at{m_x.at(point.x), scale.at(point.y.value)};
            if (points.size() > kFewPoints) {
                p.circle(at, 2.2, {}, Ink::Muted);
                continue;
            }
            if (point.y.low && point.y.high)
                p.whisker({at.x, scale.at(*point.y.low)}, {at.x, scale.at(*point.y.high)}, ink);
            p.diamond(at, 4.5, ink, ink);
            if (points.size() > 1)
                continue;
            const TextStyle style = p.small(series.isEmphasised);
            const bool isLeft = at.x + p.textWidth(series.name, style) + p.px(10.0) > p.width();
            p.haloText({at.x + p.px(isLeft ? -10.0 : 10.0), at.y + style.size * 0.35},
                       series.name,
                       style,
                       ink,
                       isLeft ? TextAnchor::End : TextAnchor::Start);
        }
    }

    /// The labels stand at the ends of their lines, moved apart where they would overlap.
    void drawLabels(double top, DrawingPoint end, double room) {
        Painter& p = m_painter;
        const double step = p.px(14.0);
        std::stable_sort(m_labels.begin(), m_labels.end(), [](const auto& a, const auto& b) {
            return a.pointY < b.pointY;
        });
        for (std::size_t i = 0; i < m_labels.size(); ++i)
            m_labels[i].y =
                std::max(m_labels[i].pointY, i > 0 ? m_labels[i - 1].y + step : top + p.px(4.0));
        double limit = end.y - p.px(2.0);
        for (std::size_t i = m_labels.size(); i-- > 0;) {
            m_labels[i].y = std::min(m_labels[i].y, limit);
            limit = m_labels[i].y - step;
        }
        for (const EndLabel& label : m_labels) {
            const TextStyle style = p.small(label.ink == Ink::Accent);
            if (std::abs(label.y - label.pointY) > p.px(4.0))
                p.line({{end.x + p.px(3.0), label.pointY}, {end.x + p.px(11.0), label.y}},
                       Ink::Raw);
            p.text({end.x + p.px(14.0), label.y + style.size * 0.35},
                   p.fitted(label.text, style, room - p.px(14.0)),
                   style,
                   label.ink);
        }
    }

    const ResultFigure& m_figure;
    const FigureCanvas& m_canvas;
    Painter& m_painter;
    AxisScale m_x;
    bool m_hasLanes;
    std::vector<EndLabel> m_labels; // of the panel at work
    std::vector<LevelLabel> m_levels;
    std::size_t m_dash = 0;
};

} // namespace

void drawLines(const ResultFigure& figure, const FigureCanvas& canvas, Painter& painter) {
    LinePlot(figure, canvas, painter).draw();
}

} // namespace engine
