// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/speed/speed_curve.h"

#include <algorithm>

namespace ui {

std::optional<SpeedCurve::Sample> SpeedCurve::openSample() const {
    if (m_openMs <= 0.0)
        return std::nullopt;
    return Sample{m_seconds,
                  static_cast<double>(m_openTokens) / m_openMs,
                  m_newest.nowPerMs,
                  m_newest.chatPerMs,
                  m_newest.plainMs,
                  m_newest.chatPlainMs};
}

void SpeedCurve::take(const SpeedPoint& point) {
    const double ms = point.totalMs();
    if (ms <= 0.0)
        return;
    m_newest = point;
    m_seconds += ms / 1e3;
    m_openMs += ms;
    m_openTokens += point.tokens;
    if (m_openMs < kSpanMs)
        return;
    m_samples.push_back(*openSample());
    m_openMs = 0.0;
    m_openTokens = 0;
}

bool SpeedCurve::update(const SpeedLog& log) {
    const bool isContinued = log.number() == m_logNumber;
    if (!isContinued) {
        *this = SpeedCurve();
        m_logNumber = log.number();
    }
    const auto count = static_cast<std::int64_t>(log.points().size());
    auto mark = std::ranges::lower_bound(log.marks(), m_taken, {}, &SpanMark::point);
    const std::int64_t first = std::max(m_taken - log.droppedPoints(), std::int64_t{0});
    for (std::int64_t i = first; i < count; ++i) {
        for (; mark != log.marks().end() && mark->point <= log.droppedPoints() + i; ++mark)
            m_marks.push_back({m_seconds, *mark});
        take(log.points()[static_cast<std::size_t>(i)]);
    }
    m_taken = log.droppedPoints() + count;
    return isContinued;
}

} // namespace ui
