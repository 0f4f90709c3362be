// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/speed_log.h"

#include <cstdint>
#include <vector>

namespace ui {

/// The steps of a SpeedLog on an axis of decoding time, pauses between answers left out; the same
/// values for every unit. Thread: UI.
class SpeedCurve {
public:
    struct Sample {
        double seconds = 0.0;     ///< decoded until the end of this step
        double tokensPerMs = 0.0; ///< of this step, its search included
        double wholePerMs = 0.0;  ///< of all drafting steps of this decoder; 0 before the first
    };

    /// Takes what is new. False: earlier samples are others now, draw all anew.
    bool update(const SpeedLog& log);

    const std::vector<Sample>& samples() const { return m_samples; }

    double newestSeconds() const { return m_samples.empty() ? 0.0 : m_samples.back().seconds; }

private:
    struct Sums {
        std::int64_t tokens = 0;
        double ms = 0.0;

        void add(const SpeedPoint& point);

        double perMs() const { return ms > 0.0 ? static_cast<double>(tokens) / ms : 0.0; }
    };

    void take(const SpeedPoint& point);
    void sumUpAnew(const SpeedLog& log);

    std::vector<Sample> m_samples;
    std::int64_t m_taken = 0; ///< number of the next point of the log
    Sums m_whole;
};

} // namespace ui
