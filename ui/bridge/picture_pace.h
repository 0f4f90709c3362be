// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <array>
#include <cstddef>

namespace ui {

/// How often pictures are refreshed: every tick, or less often while ticks take too much of the UI
/// thread's time. A plain value.
class PicturePace {
public:
    static constexpr double kBudgetMs = 8.0; ///< for a tick on average, painting included
    static constexpr int kCalmSeconds = 5;   ///< must stay far below the budget before refreshing
                                             ///< gets faster again
    static constexpr std::array kIntervalsMs = {33, 100, 250};

    /// Records the cost of a tick at a time in milliseconds. Returns whether the interval has
    /// changed.
    bool note(double costMs, double nowMs);

    int intervalMs() const { return kIntervalsMs[m_level]; }

private:
    std::size_t m_level = 0;
    double m_secondBeganMs = -1.0;
    double m_costSumMs = 0.0;
    int m_ticks = 0;
    int m_calmSeconds = 0;
};

} // namespace ui
