// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/logs/speed_log.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ui {

/// The steps of a SpeedLog on an axis of decoding time, without the pauses between answers. A step
/// gives one token or ten, so single steps are noise: a point covers .4 s of steps. The values are
/// the same for every unit. Thread: UI.
class SpeedCurve {
public:
    struct Sample {
        double seconds = 0.0;     ///< decoded until the end of these steps
        double tokensPerMs = 0.0; ///< of these steps, their search included
        double nowPerMs = 0.0;    ///< of SpeedLog::now() at their end
        double chatPerMs = 0.0;   ///< of SpeedLog::chat() at their end; 0 before its first
        double plainMs = 0.0;     ///< of vanilla at their end; 0 while it is not known
        double chatPlainMs = 0.0; ///< that SpeedLog::chat() is compared with, likewise
    };

    /// Where a new span began.
    struct Mark {
        double seconds = 0.0;
        SpanMark mark;
    };

    /// Adds new samples. Returns false if earlier samples have changed and everything must be
    /// redrawn.
    bool update(const SpeedLog& log);

    /// Whole spans of .4 s.
    const std::vector<Sample>& samples() const { return m_samples; }

    /// The steps of the current, incomplete .4 s; none if there are none.
    std::optional<Sample> openSample() const;

    const std::vector<Mark>& marks() const { return m_marks; }

    bool isEmpty() const { return m_samples.empty() && m_openMs <= 0.0; }

    double newestSeconds() const { return m_seconds; }

private:
    static constexpr double kSpanMs = 400.0;

    void take(const SpeedPoint& point);

    std::vector<Sample> m_samples;
    std::vector<Mark> m_marks;
    SpeedPoint m_newest;
    double m_seconds = 0.0;
    double m_openMs = 0.0;
    std::int64_t m_openTokens = 0;
    std::int64_t m_taken = 0; ///< number of the next point of the log
    int m_logNumber = 0;
};

} // namespace ui
