// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/training/schedule.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

constexpr double kWarmShare = 0.03;
constexpr std::int64_t kDecayPart = 4; // a quarter

} // namespace

Schedule makeSchedule(std::int64_t steps, double rate, double streamLoss) {
    return {.planned = steps,
            .steps = steps,
            .decayStart = steps - steps / kDecayPart,
            .rate = rate,
            .streamLoss = streamLoss};
}

StepTerms Schedule::at(std::int64_t step) const {
    StepTerms terms;
    const auto part = [](std::int64_t over, std::int64_t under) {
        return static_cast<double>(over) / static_cast<double>(under);
    };
    const auto warm = std::max<std::int64_t>(
        1, std::llround(std::ceil(kWarmShare * static_cast<double>(planned))));
    terms.rate = rate * std::min(1.0, part(step + 1, warm));
    terms.streamLoss = streamLoss * std::max(0.0, 1.0 - part(2 * step, planned));
    if (step < decayStart)
        return terms;
    terms.rate *= part(steps - step, steps - decayStart);
    terms.overlap = part(step - decayStart, steps - decayStart);
    return terms;
}

Schedule Schedule::endedFrom(std::int64_t step) const {
    if (step >= decayStart)
        return *this;
    Schedule ended = *this;
    ended.steps = step + (steps - decayStart);
    ended.decayStart = step;
    return ended;
}

} // namespace engine
