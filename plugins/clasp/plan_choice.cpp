// SPDX-License-Identifier: Apache-2.0
#include "plugins/clasp/plan_choice.h"

#include <algorithm>
#include <cmath>

namespace clasp {

using namespace engine;

namespace {

/// Bins of loss end at 1e-6, 1e-5, ..., .1 and .3.
constexpr std::array<double, 7> kBinEnds = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 0.3};

/// How much a stream that is off by an angle costs, before anything is known: three times its size.
constexpr double kHarm = 3.0;

/// The guess counts like so many tokens.
constexpr double kGuessTokens = 8.0;

/// Weight of the counts before the newest.
constexpr double kMemory = 0.9;

/// No window of tokens can show more.
constexpr double kMostAcceptance = 0.98;

double guess(double loss) { return std::max(0.0, 1.0 - kHarm * std::sqrt(std::max(loss, 0.0))); }

} // namespace

std::size_t AcceptanceByLoss::binOf(double loss) {
    const auto end = std::upper_bound(kBinEnds.begin(), kBinEnds.end(), loss);
    return static_cast<std::size_t>(end - kBinEnds.begin());
}

/// Within a bin the guess keeps the order; the counts move it as a whole.
double AcceptanceByLoss::expected(double loss) const {
    const Bin& bin = m_bins[binOf(loss)];
    const double moved = (bin.hits - bin.expectedHits) / (bin.count + kGuessTokens);
    return std::clamp(guess(loss) + moved, 0.0, kMostAcceptance);
}

void AcceptanceByLoss::learn(double loss, int hits, int count) {
    Bin& bin = m_bins[binOf(loss)];
    bin.hits = kMemory * bin.hits + hits;
    bin.expectedHits = kMemory * bin.expectedHits + guess(loss) * count;
    bin.count = kMemory * bin.count + count;
}

ChainSpeed bestChain(double acceptance, double passCost, const StepCosts& costs, int longest) {
    ChainSpeed best;
    double tokens = 1.0; // the bonus
    double chance = 1.0; // that a whole chain is accepted
    for (int length = 1; length <= longest; ++length) {
        chance *= acceptance;
        tokens += chance;
        const double speed = tokens / (length * passCost + costs.relativeCost(length + 1));
        if (speed > best.speed)
            best = {speed, length};
    }
    return best;
}

std::vector<Promising> fastest(std::vector<Promising> sets, std::size_t count) {
    std::reverse(sets.begin(), sets.end()); // larger sets first
    std::stable_sort(sets.begin(), sets.end(), [](const Promising& a, const Promising& b) {
        return a.chain.speed > b.chain.speed;
    });
    sets.resize(std::min(sets.size(), count));
    return sets;
}

} // namespace clasp
