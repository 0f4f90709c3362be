// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/drawing/labels/plot_ticks.h"

#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>

namespace ui {

namespace {

constexpr double kSlack = 1e-9; ///< of a step: a tick on the end of the range is inside

std::vector<double> ticksWithStep(const AxisForm& axis, PlotRange range, double step) {
    std::vector<double> ticks;
    const double first = std::ceil((range.from - axis.origin) / step - kSlack);
    const double last = std::floor((range.to - axis.origin) / step + kSlack);
    for (double i = first; i <= last; ++i)
        ticks.push_back(axis.origin + i * step);
    return ticks;
}

} // namespace

std::vector<double> tickPositions(const AxisForm& axis, PlotRange range) {
    if (!(range.span() > 0.0) || !std::isfinite(range.span()) || axis.tickCount < 1)
        return {};
    double power = std::pow(10.0, std::floor(std::log10(range.span() / axis.tickCount)));
    for (int decade = 0; decade < 4; ++decade, power *= 10.0) {
        for (const double mantissa : {1.0, 2.0, 4.0, 5.0}) {
            const double step = mantissa * power;
            // More than this many would not be listed: counting them first keeps the list short.
            if (range.span() / step > axis.tickCount + 1)
                continue;
            std::vector<double> ticks = ticksWithStep(axis, range, step);
            if (ticks.size() <= static_cast<std::size_t>(axis.tickCount))
                return ticks;
        }
    }
    return {};
}

QString plainNumber(double value, int decimals) {
    QLocale locale = QLocale::c();
    locale.setNumberOptions(QLocale::OmitGroupSeparator);
    QString text = locale.toString(std::abs(value), 'f', decimals);
    const bool isZero = std::none_of(
        text.cbegin(), text.cend(), [](QChar c) { return c >= QChar('1') && c <= QChar('9'); });
    if (value < 0.0 && !isZero)
        text.prepend(QChar(0x2212));
    return text;
}

QString tickText(const AxisForm& axis, const std::vector<double>& ticks, double tick) {
    if (axis.tickText)
        return axis.tickText(tick);
    const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : std::max(std::abs(tick), 1e-9);
    const int decimals = static_cast<int>(std::ceil(-std::log10(step) - kSlack));
    return plainNumber(tick, std::clamp(decimals, 0, 6));
}

} // namespace ui
