// SPDX-License-Identifier: Apache-2.0
#include "plugins/space/place_rates.h"

#include <algorithm>

namespace space {

namespace {

constexpr double kMemory = 0.97; // weight of a round against the next one
constexpr double kPrior = 0.5;
constexpr double kPriorTrials = 4.0;

} // namespace

void PlaceRates::learn(int tried, int accepted) {
    for (Count& count : m_counts) {
        count.accepted *= kMemory;
        count.tried *= kMemory;
    }
    for (int place = 0; place < tried; ++place) {
        Count& count = m_counts[static_cast<std::size_t>(place)];
        count.tried += 1.0;
        count.accepted += place < accepted ? 1.0 : 0.0;
    }
}

double PlaceRates::rate(int place) const {
    const Count& count = m_counts[static_cast<std::size_t>(place) - 1];
    return (count.accepted + kPriorTrials * kPrior) / (count.tried + kPriorTrials);
}

double PlaceRates::reach(int place) const {
    double reach = 1.0;
    for (int before = 1; before <= place; ++before)
        reach *= rate(before);
    return reach;
}

RoundShape planRound(const PlaceRates& rates, const RoundLimits& limits) {
    int places = 0;
    while (places < limits.masks && rates.reach(places + 1) >= limits.leastReach)
        ++places;
    RoundShape shape;
    shape.candidates = std::min({limits.candidates, places, limits.room - 1});
    for (int group = 0; group <= shape.candidates; ++group) {
        const bool isLast = group == shape.candidates;
        const double left = isLast ? 1.0 : 1.0 - rates.rate(group + 1);
        const bool isUsed = rates.reach(group) * left >= limits.leastReach;
        // Behind the group's candidates the model's own token takes a place, in this round and the
        // next.
        const int room = std::max(limits.room - group - 2, 0);
        shape.masks.push_back(isUsed ? std::min(places, room) : 0);
    }
    return shape;
}

} // namespace space
