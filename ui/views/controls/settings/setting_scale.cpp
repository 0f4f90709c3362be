// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/controls/settings/setting_scale.h"

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr double kWide = 2000.0;    // from here on one pixel would be several units
constexpr double kTooWide = 1.0e8;  // a number that cannot be found with a slider
constexpr int kWidePositions = 240; // about a pixel each
constexpr double kNumberSteps = 50.0;
constexpr int kMostDecimals = 6;

double roundedToTwoDigits(double value) {
    if (value < 100.0)
        return std::round(value);
    const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1.0);
    return std::round(value / unit) * unit;
}

/// Behind the point, kMostDecimals at most.
int digitsOf(double value) {
    int digits = 0;
    for (double unit = 1.0; digits < kMostDecimals; unit *= 10.0, ++digits)
        if (std::abs(value * unit - std::round(value * unit)) < 1e-6)
            break;
    return digits;
}

} // namespace

SettingScale::SettingScale(double minimum, double maximum, bool isInteger, double initial)
    : m_minimum(minimum)
    , m_maximum(std::max(minimum, maximum))
    , m_isInteger(isInteger) {
    const double range = m_maximum - m_minimum;
    if (isInteger) {
        m_isWide = range > kWide;
        m_hasSlider = range > 0.0 && range < kTooWide;
        m_lastPosition = m_isWide ? kWidePositions : static_cast<int>(range);
        return;
    }
    m_hasSlider = range > 0.0;
    const double magnitude = range > 0.0 ? std::floor(std::log10(range / kNumberSteps)) : -2.0;
    m_step = std::pow(10.0, magnitude);
    m_decimals =
        std::max(std::clamp(static_cast<int>(-magnitude), 2, kMostDecimals), digitsOf(initial));
    m_lastPosition = static_cast<int>(std::lround(range / m_step));
}

int SettingScale::positionOf(double value) const {
    const double offset = std::clamp(value, m_minimum, m_maximum) - m_minimum;
    if (!m_isWide)
        return static_cast<int>(std::lround(offset / m_step));
    return static_cast<int>(
        std::lround(kWidePositions * std::log1p(offset) / std::log1p(m_maximum - m_minimum)));
}

double SettingScale::valueAt(int position) const {
    if (position <= 0)
        return m_minimum;
    if (position >= m_lastPosition)
        return m_maximum;
    if (!m_isWide) {
        const double value = m_minimum + position * m_step;
        const double unit = std::pow(10.0, m_decimals);
        return m_isInteger ? value : std::round(value * unit) / unit;
    }
    const double part = static_cast<double>(position) / kWidePositions;
    const double value = m_minimum + std::expm1(part * std::log1p(m_maximum - m_minimum));
    return std::clamp(roundedToTwoDigits(value), m_minimum, m_maximum);
}

} // namespace ui
