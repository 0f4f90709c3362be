// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/figures/painter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace engine {

namespace {

constexpr int kHeatSteps = 7;
constexpr double kSpeedStep = 0.1;  ///< of a speedup; above 1.6 stays the last step
constexpr double kLeastShare = 0.1; ///< values that are all smaller are no shares

Ink heatInk(int step) {
    return static_cast<Ink>(static_cast<int>(Ink::Heat0) + std::clamp(step, 0, kHeatSteps - 1));
}

Ink heatTextInk(int step) {
    return static_cast<Ink>(static_cast<int>(Ink::HeatText0) + std::clamp(step, 0, kHeatSteps - 1));
}

/// A matrix whose cells carry their numbers; the shade only helps to see.
class MatrixPlot {
public:
    MatrixPlot(const ResultFigure& figure, Painter& painter)
        : m_figure(figure)
        , m_painter(painter)
        , m_isSpeed(figure.y.reference.has_value())
        , m_hasDiagonal(!figure.x.names.empty() && figure.x.names == figure.y.names) {
        bool isFirst = true;
        for (const FigurePanel& panel : figure.panels) {
            for (const auto& row : panel.cells) {
                for (const Estimate& cell : row) {
                    if (cell.count == 0 || !isDrawable(cell.value))
                        continue;
                    m_low = isFirst ? cell.value : std::min(m_low, cell.value);
                    m_high = isFirst ? cell.value : std::max(m_high, cell.value);
                    isFirst = false;
                    m_hasIntervals = m_hasIntervals || (cell.low && cell.high);
                }
            }
        }
        m_isSmall = !m_isSpeed && m_low >= 0.0 && m_high > 0.0 && m_high < kLeastShare;
        if (m_low >= 0.0 && m_high <= 1.0 && !m_isSmall) {
            m_low = 0.0;
            m_high = 1.0;
        }
    }

    void draw() {
        const Painter& p = m_painter;
        const double names =
            std::min(p.widest(m_figure.y.names, p.body()) + p.px(16.0), p.width() * 0.3);
        const double least = p.px(44.0);
        const auto columns = static_cast<double>(std::max<std::size_t>(m_figure.x.names.size(), 1));
        // Few columns are as wide as their heads, so that these stand upright.
        const double head = p.widest(m_figure.x.names, p.body()) + p.px(12.0);
        m_cellWidth = std::clamp(
            (p.width() - names) / columns, p.px(24.0), std::clamp(head, p.px(72.0), p.px(130.0)));
        const bool isNarrow = m_cellWidth < least;
        m_hasIntervals = m_hasIntervals && !isNarrow;
        m_cellHeight = p.px(m_hasIntervals ? 44.0 : 32.0);
        double y = drawLegend(m_painter, legend(), 0.0);
        for (const FigurePanel& panel : m_figure.panels)
            y = drawPanel(panel, names, y);
        m_painter.setHeight(y);
    }

private:
    int stepOf(double value) const {
        if (m_isSpeed)
            return static_cast<int>(
                std::floor((value - *m_figure.y.reference) / kSpeedStep + 1e-9));
        const double share = m_high > m_low ? (value - m_low) / (m_high - m_low) : 0.0;
        return std::min(static_cast<int>(share * kHeatSteps), kHeatSteps - 1);
    }

    bool isSlower(const Estimate& cell) const {
        return m_isSpeed && cell.value < *m_figure.y.reference;
    }

    std::vector<LegendEntry> legend() const {
        std::vector<LegendEntry> entries;
        const std::string scale = m_isSpeed ? "1.0 to 1.6 × vanilla and more"
                                            : fmt::format("{:.3g} to {:.3g}", m_low, m_high);
        entries.push_back({scale, [](Painter& painter, DrawingPoint at) {
                               const double width = painter.px(26.0) / kHeatSteps;
                               for (int i = 0; i < kHeatSteps; ++i) {
                                   const double x = at.x - painter.px(14.0) + i * width;
                                   painter.rectangle({x, at.y - painter.px(5.0)},
                                                     {x + width, at.y + painter.px(5.0)},
                                                     heatInk(i));
                               }
                               painter.outline({at.x - painter.px(14.0), at.y - painter.px(5.0)},
                                               {at.x + painter.px(12.0), at.y + painter.px(5.0)},
                                               Ink::Grid);
                           }});
        if (m_hasDiagonal)
            entries.push_back({"own", [](Painter& painter, DrawingPoint at) {
                                   painter.outline({at.x - painter.px(6.0), at.y - painter.px(5.0)},
                                                   {at.x + painter.px(6.0), at.y + painter.px(5.0)},
                                                   Ink::Text,
                                                   2.0);
                               }});
        if (m_isSpeed) {
            entries.push_back({"best of its column", [](Painter& painter, DrawingPoint at) {
                                   painter.diamond(at, 4.0, Ink::Text, Ink::Text);
                               }});
            entries.push_back({"slower than vanilla", [](Painter& painter, DrawingPoint at) {
                                   drawDown(painter, at, Ink::Warning);
                               }});
        }
        return entries;
    }

    static void drawDown(Painter& painter, DrawingPoint at, Ink ink) {
        const double half = painter.px(3.0);
        painter.line({{at.x - half, at.y - half / 2.0},
                      {at.x, at.y + half},
                      {at.x + half, at.y - half / 2.0},
                      {at.x - half, at.y - half / 2.0}},
                     ink);
    }

    /// Column heads that are too wide for their columns stand upright, turned by 40 degrees.
    double headHeight() const {
        const double widest = m_painter.widest(m_figure.x.names, m_painter.body());
        return widest + m_painter.px(8.0) <= m_cellWidth
                   ? m_painter.px(22.0)
                   : std::min(widest, m_painter.px(150.0)) * 0.66 + m_painter.px(22.0);
    }

    void drawHeads(double left, double top, double height) {
        Painter& p = m_painter;
        const bool isTurned = height > p.px(22.5);
        for (std::size_t i = 0; i < m_figure.x.names.size(); ++i) {
            const double x = left + (static_cast<double>(i) + 0.5) * m_cellWidth;
            if (!isTurned) {
                p.text({x, top + height - p.px(8.0)},
                       m_figure.x.names[i],
                       p.body(),
                       Ink::Text,
                       TextAnchor::Middle);
                continue;
            }
            p.turnedText({x, top + height - p.px(6.0)},
                         p.fitted(m_figure.x.names[i], p.body(), p.px(150.0)),
                         p.body(),
                         Ink::Text,
                         -40.0);
        }
    }

    double drawPanel(const FigurePanel& panel, double left, double top) {
        Painter& p = m_painter;
        if (!panel.title.empty()) {
            p.text({0.0, top + p.px(14.0)}, panel.title, p.body(true), Ink::Text);
            top += p.px(24.0);
        }
        if (!m_figure.x.title.empty()) {
            p.text({left, top + p.px(12.0)}, m_figure.x.title, p.small(), Ink::Muted);
            top += p.px(18.0);
        }
        const double head = headHeight();
        p.text({0.0, top + head - p.px(8.0)},
               p.fitted(m_figure.y.title, p.small(), left - p.px(8.0)),
               p.small(),
               Ink::Muted);
        drawHeads(left, top, head);
        top += head;
        std::vector<std::size_t> best(m_figure.x.names.size(), panel.cells.size());
        for (std::size_t column = 0; column < best.size(); ++column) {
            for (std::size_t row = 0; row < panel.cells.size(); ++row) {
                const Estimate& cell = panel.cells[row][column];
                if (cell.count > 0 && (best[column] == panel.cells.size() ||
                                       cell.value > panel.cells[best[column]][column].value))
                    best[column] = row;
            }
        }
        for (std::size_t row = 0; row < panel.cells.size(); ++row) {
            const double y = top + static_cast<double>(row) * m_cellHeight;
            if (row < m_figure.y.names.size())
                p.text({0.0, y + m_cellHeight / 2.0 + p.body().size * 0.35},
                       p.fitted(m_figure.y.names[row], p.body(), left - p.px(10.0)),
                       p.body(),
                       Ink::Text);
            for (std::size_t column = 0; column < panel.cells[row].size(); ++column)
                drawCell(panel.cells[row][column],
                         {left + static_cast<double>(column) * m_cellWidth, y},
                         m_isSpeed && best[column] == row && panel.cells.size() > 1);
        }
        // The diagonal lies above the cells, so that its outline is whole.
        for (std::size_t i = 0; m_hasDiagonal && i < panel.cells.size(); ++i) {
            const DrawingPoint at{left + static_cast<double>(i) * m_cellWidth,
                                  top + static_cast<double>(i) * m_cellHeight};
            p.outline({at.x + p.px(1.0), at.y + p.px(1.0)},
                      {at.x + m_cellWidth - p.px(1.0), at.y + m_cellHeight - p.px(1.0)},
                      Ink::Text,
                      2.0);
        }
        return top + static_cast<double>(panel.cells.size()) * m_cellHeight + p.px(12.0);
    }

    void drawCell(const Estimate& cell, DrawingPoint at, bool isBest) {
        Painter& p = m_painter;
        const double inset = p.px(1.0);
        const DrawingPoint from{at.x + inset, at.y + inset};
        const DrawingPoint to{at.x + m_cellWidth - inset, at.y + m_cellHeight - inset};
        if (cell.count == 0 || !isDrawable(cell.value)) {
            p.outline(from, to, Ink::Grid);
            return;
        }
        const bool slower = isSlower(cell);
        const int step = stepOf(cell.value);
        if (slower)
            p.outline(from, to, Ink::Grid);
        else
            p.rectangle(from, to, heatInk(step));
        const Ink ink = slower ? Ink::Warning : heatTextInk(step);
        std::string text = fmt::format("{:.{}f}", cell.value, m_isSmall ? 3 : 2);
        if (!m_isSpeed && text.starts_with("0."))
            text.erase(0, 1);
        const double middle = at.x + m_cellWidth / 2.0;
        const bool hasInterval = m_hasIntervals && cell.low && cell.high;
        const TextStyle style = m_cellWidth < p.px(40.0) ? TextStyle{p.px(10.0), false, true}
                                                         : TextStyle{p.px(12.0), false, true};
        p.text({middle, at.y + m_cellHeight / 2.0 + (hasInterval ? -p.px(2.0) : style.size * 0.35)},
               text,
               style,
               ink,
               TextAnchor::Middle);
        if (hasInterval) {
            std::string half = fmt::format("{:.2f}", (*cell.high - *cell.low) / 2.0);
            if (half.starts_with("0."))
                half.erase(0, 1);
            p.text({middle, at.y + m_cellHeight / 2.0 + p.px(12.0)},
                   "±" + half,
                   {p.px(9.5), false, true},
                   ink,
                   TextAnchor::Middle);
        }
        if (slower)
            drawDown(p, {from.x + p.px(8.0), from.y + p.px(8.0)}, ink);
        if (isBest)
            p.diamond({to.x - p.px(7.0), from.y + p.px(8.0)}, 3.0, ink, ink);
    }

    const ResultFigure& m_figure;
    Painter& m_painter;
    bool m_isSpeed;
    bool m_hasDiagonal; ///< rows and columns are the same, so that what is its own lies on it
    bool m_hasIntervals = false;
    bool m_isSmall = false; ///< as tokens per layer are: their own scale, and a digit more
    double m_low = 0.0;
    double m_high = 1.0;
    double m_cellWidth = 0.0;
    double m_cellHeight = 0.0;
};

} // namespace

void drawMatrix(const ResultFigure& figure, const FigureCanvas& /*canvas*/, Painter& painter) {
    MatrixPlot(figure, painter).draw();
}

} // namespace engine
