// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/figures/axis_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

constexpr double kMostValue = 1e12;                  ///< larger ones are not drawn
constexpr double kLeastOfDecades = 1.0 / kMostValue; ///< of a logarithmic axis: no smaller ones

/// The next round number: 1, 2, 2.5 or 5 times a power of ten.
double roundStep(double step) {
    const double power = std::pow(10.0, std::floor(std::log10(step)));
    for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
        if (factor * power >= step * 0.999)
            return factor * power;
    }
    return 10.0 * power;
}

} // namespace

bool isDrawable(double value) { return std::isfinite(value) && std::abs(value) < kMostValue; }

AxisScale::AxisScale(std::span<const double> values, int ticks, bool isLogarithmic)
    : m_isLogarithmic(isLogarithmic) {
    bool isFirst = true;
    for (const double value : values) {
        if (!isDrawable(value) || (isLogarithmic && value < kLeastOfDecades))
            continue;
        m_low = isFirst ? value : std::min(m_low, value);
        m_high = isFirst ? value : std::max(m_high, value);
        isFirst = false;
    }
    if (isFirst) {
        m_low = isLogarithmic ? 1.0 : 0.0;
        m_high = isLogarithmic ? 10.0 : 1.0;
    }
    if (isLogarithmic) {
        if (m_high / m_low < 2.0) {
            m_low /= 2.0;
            m_high *= 2.0;
        }
        m_low /= 1.2;
        m_high *= 1.2;
        for (double power = std::pow(10.0, std::floor(std::log10(m_low))); power <= m_high;
             power *= 10.0) {
            for (const double factor : {1.0, 2.0, 5.0}) {
                if (factor * power >= m_low && factor * power <= m_high)
                    m_ticks.push_back(factor * power);
            }
        }
        return;
    }
    double range = m_high - m_low;
    if (range <= std::abs(m_high) * 1e-9) {
        range = std::max(std::abs(m_high) * 0.2, 1e-3);
        m_low -= range / 2.0;
        m_high += range / 2.0;
    }
    const bool touchesZero = m_low >= 0.0 && m_low <= range * 1e-3;
    m_step = roundStep(range / std::max(ticks, 2));
    m_low = touchesZero ? 0.0 : m_low - range * 0.06;
    m_high += range * 0.06;
    for (double tick = std::ceil(m_low / m_step) * m_step; tick <= m_high + m_step * 1e-6;
         tick += m_step)
        m_ticks.push_back(std::abs(tick) < m_step * 1e-6 ? 0.0 : tick);
}

double AxisScale::at(double value) const {
    if (std::isnan(value))
        return m_from;
    const double low = m_isLogarithmic ? std::log(m_low) : m_low;
    const double high = m_isLogarithmic ? std::log(m_high) : m_high;
    const double here = m_isLogarithmic ? std::log(std::max(value, m_low)) : value;
    const double share = std::clamp((here - low) / (high - low), 0.0, 1.0);
    return m_from + share * (m_to - m_from);
}

std::string AxisScale::tickText(double tick) const {
    if (std::abs(tick) >= 1e9)
        return fmt::format("{:.3g}B", tick / 1e9);
    if (std::abs(tick) >= 1e6)
        return fmt::format("{:.3g}M", tick / 1e6);
    if (m_isLogarithmic)
        return std::abs(tick) >= 100.0 ? fmt::format("{:.0f}", tick) : fmt::format("{:.3g}", tick);
    const double power = std::floor(std::log10(m_step) + 1e-9);
    int digits = std::max(0, static_cast<int>(-power));
    const double factor = m_step / std::pow(10.0, power);
    if (std::abs(factor - 2.5) < 1e-6 && power <= 0.0)
        ++digits;
    return fmt::format("{:.{}f}", tick, std::min(digits, 9));
}

} // namespace engine
