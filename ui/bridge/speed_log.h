// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <cstdint>
#include <deque>
#include <optional>

namespace ui {

/// One step, as a point of the speed curve. A plain value; times in milliseconds.
struct SpeedPoint {
    double time = 0.0; ///< seconds since the session began, at the step's end
    int tokens = 0;
    bool isBaseline = false; ///< a plain step that was asked for, to compare with
    bool isPlain = false;    ///< by the full model alone, asked for or not
    int draftSteps = 0;
    int accepted = 0;
    int verifiedRows = 0;
    double draftMs = 0.0;
    double verifyMs = 0.0;
    double searchMs = 0.0;
    double otherMs = 0.0;

    double totalMs() const { return draftMs + verifyMs + searchMs + otherMs; }
};

/// Where the time of some steps went; those that were asked for as a baseline are left out. A plain
/// value.
struct TimeShares {
    std::int64_t steps = 0;
    std::int64_t drafting = 0; ///< of them
    std::int64_t tokens = 0;
    double draftMs = 0.0; ///< summed
    double verifyMs = 0.0;
    double searchMs = 0.0;
    double otherMs = 0.0;

    double totalMs() const { return draftMs + verifyMs + searchMs + otherMs; }
};

/// How fast it went, against the full model's own plain steps in the same run. The baseline is kept
/// when another decoder is chosen, and forgotten with the model. Thread: UI.
class SpeedLog {
public:
    static constexpr std::size_t kPointsKept = 200'000;
    static constexpr std::size_t kBaselineStepsKept = 64;
    static constexpr std::size_t kBaselineStepsNeeded = 2;

    bool apply(const engine::EngineEvent& event);

    const std::deque<SpeedPoint>& points() const { return m_points; }

    /// Points that were dropped at the front: a point's number is its index and this.
    std::int64_t droppedPoints() const { return m_dropped; }

    /// Milliseconds of one plain step: the mean of the newest 64; none until two were measured.
    std::optional<double> baselineMs() const;

    /// Since the decoder was chosen.
    const engine::DecodeMetrics& total() const { return m_total; }

    /// Of the decoder's own steps in the last `seconds` of decoding.
    TimeShares sharesOfLast(double seconds) const;

    /// Of all its own steps since the decoder was chosen; none before it has drafted.
    TimeShares sharesOfAll() const;

    /// How many times faster than the baseline all its own steps were, the search included.
    std::optional<double> wholeSpeedup() const;

    /// The costs of drafting and verifying as measured; none until there is a baseline and a round
    /// that drafted.
    std::optional<engine::SpeedFactors> measuredFactors() const;

private:
    void addStep(const engine::StepFinished& step, double time);

    std::deque<SpeedPoint> m_points;
    std::int64_t m_dropped = 0;
    std::deque<double> m_baselineMs;
    engine::DecodeMetrics m_total;
};

} // namespace ui
