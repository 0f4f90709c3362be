// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/experiment_result.h"

#include <vector>

namespace engine {

using PlotPoints = std::vector<FigureSeries::Point>;

/// The points that can be drawn, from left to right; of very many every n-th and the last.
PlotPoints drawable(const PlotPoints& points);

/// Whether the values jump up and down rather than follow a line.
bool isNoisy(const PlotPoints& points);

/// Medians of the points around each.
PlotPoints smoothed(const PlotPoints& points);

} // namespace engine
