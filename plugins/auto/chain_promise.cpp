// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/chain_promise.h"

namespace automatic {

using namespace engine;

Promise bestChain(const DraftPass& pass, const StepCosts& costs, int mostNodes) {
    Promise best;
    double tokens = 1.0;
    double path = 1.0;
    for (int nodes = 1; nodes <= mostNodes; ++nodes) {
        path *= pass.acceptance;
        tokens += path;
        const Promise chain{tokens, nodes * pass.cost + costs.relativeCost(nodes + 1), nodes};
        if (nodes == 1 || chain.rate() > best.rate())
            best = chain;
    }
    return best;
}

double neededAcceptance(const RateAsked& asked, const StepCosts& costs, int mostNodes) {
    const auto reaches = [&](double acceptance) {
        return bestChain({acceptance, asked.passCost}, costs, mostNodes).rate() >= asked.rate;
    };
    if (!reaches(1.0))
        return 2.0;
    double low = 0.0;
    double high = 1.0;
    for (int halving = 0; halving < 8; ++halving) {
        const double middle = (low + high) / 2.0;
        (reaches(middle) ? high : low) = middle;
    }
    return high;
}

} // namespace automatic
