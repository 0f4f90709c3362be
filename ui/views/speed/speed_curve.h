// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/speed_log.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ui {

/// The steps of a SpeedLog on an axis of decoding time, pauses between answers left out. A step
/// gives one token or ten, so single steps are noise: a point stands for .4 s of them. The same
/// values for every unit. Thread: UI.
class SpeedCurve {
public:
    struct Sample {
        double seconds = 0.0;     ///< decoded until the end of these steps
        double tokensPerMs = 0.0; ///< of these steps, their search included
        double wholePerMs = 0.0;  ///< of all this decoder's own steps; 0 before the first
    };

    /// Takes what is new. False: earlier samples are others now, draw all anew.
    bool update(const SpeedLog& log);

    /// Whole spans of steps.
    const std::vector<Sample>& samples() const { return m_samples; }

    /// The steps of the span that has begun; none when there are none.
    std::optional<Sample> openSample() const;

    bool isEmpty() const { return m_samples.empty() && m_openMs <= 0.0; }

    double newestSeconds() const { return m_seconds; }

private:
    static constexpr double kSpanMs = 400.0;

    struct Sums {
        std::int64_t tokens = 0;
        double ms = 0.0;

        void add(const SpeedPoint& point);

        double perMs() const { return ms > 0.0 ? static_cast<double>(tokens) / ms : 0.0; }
    };

    void take(const SpeedPoint& point);
    void sumUpAnew(const SpeedLog& log);

    std::vector<Sample> m_samples;
    double m_seconds = 0.0;
    double m_openMs = 0.0;
    std::int64_t m_openTokens = 0;
    std::int64_t m_taken = 0; ///< number of the next point of the log
    Sums m_whole;
    std::int64_t m_uncounted = 0; ///< tokens of the log's total that no step of it explains
};

} // namespace ui
