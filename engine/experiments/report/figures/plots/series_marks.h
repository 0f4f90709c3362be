// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/figures/painter.h"

namespace engine {

/// How a series looks among others. A plain value.
struct SeriesLook {
    std::size_t index = 0;
    std::size_t count = 1; ///< of series in the figure
    bool isEmphasised = false;
    bool isPart = false; ///< of a stack
};

/// A series is told by the shape of its marker, not by a colour.
void drawSeriesMarker(Painter& painter, DrawingPoint at, const SeriesLook& look, Ink ink);

/// A bar between two corners: a series is told by its shade and its hatch together.
void drawSeriesBar(Painter& painter, DrawingPoint from, DrawingPoint to, const SeriesLook& look);

} // namespace engine
