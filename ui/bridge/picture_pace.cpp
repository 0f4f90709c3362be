// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/picture_pace.h"

namespace ui {

bool PicturePace::note(double costMs, double nowMs) {
    if (m_secondBeganMs < 0.0)
        m_secondBeganMs = nowMs;
    m_costSumMs += costMs;
    ++m_ticks;
    if (nowMs - m_secondBeganMs < 1000.0)
        return false;
    const double meanMs = m_costSumMs / m_ticks;
    m_secondBeganMs = nowMs;
    m_costSumMs = 0.0;
    m_ticks = 0;
    m_calmSeconds = meanMs < kBudgetMs / 4 ? m_calmSeconds + 1 : 0;
    const std::size_t before = m_level;
    if (meanMs > kBudgetMs && m_level + 1 < kIntervalsMs.size())
        ++m_level;
    else if (m_calmSeconds >= kCalmSeconds && m_level > 0)
        --m_level;
    if (m_level == before)
        return false;
    m_calmSeconds = 0;
    return true;
}

} // namespace ui
