// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/speed/speed_curve.h"

#include <algorithm>

namespace ui {

void SpeedCurve::Sums::add(const SpeedPoint& point) {
    ms += point.searchMs;
    if (point.isBaseline)
        return;
    tokens += point.tokens;
    ms += point.draftMs + point.verifyMs + point.otherMs;
}

std::optional<SpeedCurve::Sample> SpeedCurve::openSample() const {
    if (m_openMs <= 0.0)
        return std::nullopt;
    return Sample{m_seconds,
                  static_cast<double>(m_openTokens) / m_openMs,
                  m_whole.tokens > 0 ? m_whole.perMs() : 0.0};
}

void SpeedCurve::take(const SpeedPoint& point) {
    const double ms = point.totalMs();
    if (ms <= 0.0)
        return;
    m_whole.add(point);
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
    const auto count = static_cast<std::int64_t>(log.points().size());
    bool isContinued = true;
    if (log.droppedPoints() + count < m_taken) {
        *this = SpeedCurve();
        isContinued = false;
    }
    const std::int64_t first = std::max(m_taken - log.droppedPoints(), std::int64_t{0});
    for (std::int64_t i = first; i < count; ++i)
        take(log.points()[static_cast<std::size_t>(i)]);
    m_taken = log.droppedPoints() + count;
    if (log.total().ownTokens() - m_whole.tokens != m_uncounted && log.droppedPoints() == 0) {
        sumUpAnew(log);
        m_uncounted = log.total().ownTokens() - m_whole.tokens;
        isContinued = false;
    }
    return isContinued;
}

/// Another decoder was chosen: its steps are the newest ones, as many as have its tokens.
void SpeedCurve::sumUpAnew(const SpeedLog& log) {
    const auto& points = log.points();
    std::size_t first = points.size();
    std::int64_t tokens = 0;
    while (first > 0 && tokens < log.total().ownTokens()) {
        --first;
        tokens += points[first].isBaseline ? 0 : points[first].tokens;
    }
    m_samples.clear();
    m_seconds = m_openMs = 0.0;
    m_openTokens = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        // A span that ends before the decoder's first step belongs to no sum.
        if (i <= first)
            m_whole = {};
        const std::size_t before = m_samples.size();
        take(points[i]);
        if (i < first && m_samples.size() > before)
            m_samples.back().wholePerMs = 0.0;
    }
}

} // namespace ui
