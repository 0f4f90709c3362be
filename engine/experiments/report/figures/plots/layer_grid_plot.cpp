// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/figures/painter.h"

#include <fmt/format.h>

#include <algorithm>

namespace engine {

namespace {

constexpr double kCellHeight = 15.0;
constexpr double kRowGap = 3.0;
constexpr double kLeastCell = 6.0;
constexpr double kMostCell = 14.0;
constexpr double kGridGap = 24.0;

std::vector<LegendEntry> gridLegend() {
    const auto sample = [](Ink ink, HatchKind hatch) {
        return [ink, hatch](Painter& painter, DrawingPoint at) {
            const DrawingPoint from{at.x - painter.px(7.0), at.y - painter.px(6.0)};
            const DrawingPoint to{at.x + painter.px(7.0), at.y + painter.px(6.0)};
            painter.rectangle(from, to, ink).hatch = hatch;
            if (ink == Ink::Kept)
                painter.outline(from, to, Ink::KeptLine);
        };
    };
    return {{"attention skipped", sample(Ink::Attention, HatchKind::Diagonal)},
            {"MLP skipped", sample(Ink::Mlp, HatchKind::Dots)},
            {"kept", sample(Ink::Kept, HatchKind::None)}};
}

} // namespace

/// Small multiples of a model's sublayers: attention above MLP, layers from left to right.
void drawLayerGrids(const ResultFigure& figure, const FigureCanvas& /*canvas*/, Painter& painter) {
    double y = drawLegend(painter, gridLegend(), 0.0);
    std::size_t layers = 1;
    for (const FigurePanel& panel : figure.panels) {
        for (const auto& row : panel.cells)
            layers = std::max(layers, row.size());
    }
    const auto columns = static_cast<double>(layers);
    const PanelGrid grid =
        PanelGrid::of(figure.panels.size(),
                      painter.width(),
                      std::max(columns * painter.px(kLeastCell), painter.px(150.0)),
                      painter.px(kGridGap));
    const double cell = std::min(grid.panelWidth / columns, painter.px(kMostCell));
    const double height = painter.px(20.0 + 2.0 * kCellHeight + kRowGap + 22.0);
    for (std::size_t i = 0; i < figure.panels.size(); ++i) {
        const FigurePanel& panel = figure.panels[i];
        const auto column = static_cast<double>(i % static_cast<std::size_t>(grid.columns));
        const auto row = static_cast<double>(i / static_cast<std::size_t>(grid.columns));
        const double left = column * (grid.panelWidth + painter.px(kGridGap));
        double top = y + row * (height + painter.px(10.0));
        painter.text({left, top + painter.px(13.0)},
                     painter.fitted(panel.title, painter.body(true), grid.panelWidth),
                     painter.body(true),
                     Ink::Text);
        top += painter.px(20.0);
        for (std::size_t kind = 0; kind < panel.cells.size(); ++kind) {
            const Ink skipped = kind == 0 ? Ink::Attention : Ink::Mlp;
            const HatchKind hatch = kind == 0 ? HatchKind::Diagonal : HatchKind::Dots;
            for (std::size_t layer = 0; layer < panel.cells[kind].size(); ++layer) {
                const bool isSkipped = panel.cells[kind][layer].value > 0.5;
                const double x = left + static_cast<double>(layer) * cell;
                const DrawingPoint from{x + painter.px(0.5), top};
                const DrawingPoint to{x + cell - painter.px(0.5), top + painter.px(kCellHeight)};
                painter.rectangle(from, to, isSkipped ? skipped : Ink::Kept).hatch =
                    isSkipped ? hatch : HatchKind::None;
            }
            top += painter.px(kCellHeight + kRowGap);
        }
        if (!panel.series.empty())
            painter.text(
                {left, top + painter.px(12.0)},
                painter.fitted(panel.series.front().name, painter.small(), grid.panelWidth),
                painter.small(),
                Ink::Muted);
    }
    painter.setHeight(y + grid.rows * (height + painter.px(10.0)));
}

} // namespace engine
