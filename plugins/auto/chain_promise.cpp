// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/chain_promise.h"

namespace automatic {

Promise bestChain(const DraftPass& pass, const engine::StepCosts& costs, int mostNodes) {
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

} // namespace automatic
