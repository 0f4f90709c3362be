// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/plot_parts.h"

#include <vector>

namespace ui {

/// Positions of at most `axis.tickCount` ticks (at least 2 are wished for) within the range, whole
/// steps of 1, 2, 4 or 5 times a power of ten from the axis's origin.
std::vector<double> tickPositions(const AxisForm& axis, PlotRange range);

/// The text at a tick, given all ticks of the axis.
QString tickText(const AxisForm& axis, const std::vector<double>& ticks, double tick);

/// A number as people read it in a plot: a point, a true minus sign, no exponent.
QString plainNumber(double value, int decimals);

} // namespace ui
