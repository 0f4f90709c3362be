// SPDX-License-Identifier: Apache-2.0
#include "plugins/del/choice/exit_choice.h"

#include <algorithm>
#include <cstdlib>

namespace del {

namespace {

constexpr double kMostThreshold = 0.99;

} // namespace

/// The sum, not its closed form, which is 0/0 at alpha = 1.
double expectedTokens(double alpha, int steps) {
    double tokens = 1.0;
    double term = 1.0;
    for (int i = 1; i <= steps; ++i) {
        term *= alpha;
        tokens += term;
    }
    return tokens;
}

double tokensPerLayer(double alpha, const ExitOffer& round, int layerCount) {
    return expectedTokens(alpha, round.steps) / (round.steps * round.exit + layerCount);
}

std::vector<ExitOffer>
bestOfEach(std::span<const int> exits, int mostSteps, const ExitValue& value) {
    std::vector<ExitOffer> offers;
    for (const int exit : exits) {
        ExitOffer best{exit, 0, value(exit, 0)};
        for (int steps = 1; steps <= mostSteps; ++steps)
            if (const double found = value(exit, steps); found > best.value)
                best = {exit, steps, found};
        offers.push_back(best);
    }
    return offers;
}

ExitOffer bestOf(std::span<const ExitOffer> offers) {
    if (offers.empty())
        return {};
    return *std::max_element(
        offers.begin(), offers.end(), [](const ExitOffer& a, const ExitOffer& b) {
            return a.value < b.value;
        });
}

double dynamicThreshold(const ExitCounts& counts, bool isOfficial) {
    const double matchMean = counts.matchConfidence / counts.matches;
    const double mismatchMean = counts.mismatchConfidence / counts.mismatches;
    if (isOfficial)
        return (matchMean + mismatchMean) / 2.0;
    if (counts.matches <= 0.0)
        return 1.0;
    const double low = counts.mismatches > 0.0 ? mismatchMean : 0.0;
    return std::clamp((matchMean + low) / 2.0, 0.0, kMostThreshold);
}

std::vector<int> thinnedExits(int exit, int near, int stride, int layerCount) {
    std::vector<int> exits;
    for (int other = 1; other < layerCount; ++other)
        if (std::abs(other - exit) <= near || other % stride == 0)
            exits.push_back(other);
    return exits;
}

} // namespace del
