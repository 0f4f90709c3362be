// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace engine {

/// Whether a value has a place on an axis: finite, and not beyond all measure.
bool isDrawable(double value);

/// Where a value lies on an axis of a plot.
class AxisScale {
public:
    /// A scale that holds all values (those that are not finite are passed over) with a little room
    /// on both sides, and about `ticks` round numbers on it.
    AxisScale(std::span<const double> values, int ticks, bool isLogarithmic = false);

    /// Sets the ends in pixels; `from` may be greater than `to`.
    void setEnds(double from, double to) {
        m_from = from;
        m_to = to;
    }

    double at(double value) const;

    const std::vector<double>& ticks() const { return m_ticks; }

    std::string tickText(double tick) const;

private:
    bool m_isLogarithmic;
    double m_low = 0.0;
    double m_high = 1.0;
    double m_step = 0.5;
    double m_from = 0.0;
    double m_to = 1.0;
    std::vector<double> m_ticks;
};

} // namespace engine
