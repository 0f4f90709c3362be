// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/trainer.h"

#include <cstdint>

namespace engine {

/// What the steps of a training are told: a rate that rises over the first 3 % of the steps, stays,
/// and falls to 0 over the last quarter; a loss of streams that falls to 0 at half time; and in the
/// last quarter a loss of acceptance that grows to the whole. A plain value.
struct Schedule {
    std::int64_t planned = 0;    ///< steps, before the decay began early
    std::int64_t steps = 0;      ///< steps in all
    std::int64_t decayStart = 0; ///< the first step of the last quarter
    double rate = 0.0;           ///< the highest
    double streamLoss = 0.0;     ///< weight at the start

    /// The terms of step `step`, 0 <= step < steps.
    StepTerms at(std::int64_t step) const;

    /// The same from step `step` on in its last quarter, which keeps its length; itself if that has
    /// begun.
    Schedule endedFrom(std::int64_t step) const;

    bool operator==(const Schedule&) const = default;
};

Schedule makeSchedule(std::int64_t steps, double rate, double streamLoss);

} // namespace engine
