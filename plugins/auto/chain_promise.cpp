// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/chain_promise.h"

#include "engine/model/weight_share.h"

#include <algorithm>

namespace automatic {

using namespace engine;

namespace {

bool isPureExit(const LayerPlan& plan) {
    const auto first = static_cast<std::ptrdiff_t>(plan.exitAfterLayer) + 1;
    const auto runs = [first](const std::vector<SublayerAction>& actions) {
        return std::all_of(actions.begin(), actions.begin() + first, [](SublayerAction action) {
            return action == SublayerAction::Run;
        });
    };
    return first >= 1 && first < plan.layerCount() && runs(plan.attention) && runs(plan.mlp);
}

} // namespace

PassShares PassShares::of(const LayerPlan& plan, const ModelConfig& config, double headPart) {
    PassShares shares{.draft = weightShare(plan, config, headPart)};
    if (!isPureExit(plan))
        return shares;
    LayerPlan headAlone = plan;
    headAlone.exitAfterLayer = -1;
    shares.last = shares.draft - weightShare(headAlone, config, headPart);
    shares.verify = 1.0 - shares.last;
    return shares;
}

DraftPass DraftPass::of(double acceptance, const PassShares& shares, const StepCosts& costs) {
    return {.acceptance = acceptance,
            .cost = costs.relativeDraftCost(shares.draft),
            .lastCost = shares.resumes() ? costs.relativeDraftCost(shares.last) : 0.0,
            .verifyShare = shares.verify};
}

Promise bestChain(const DraftPass& pass, const StepCosts& costs, int mostNodes) {
    Promise best;
    double tokens = 1.0;
    double path = 1.0;
    for (int nodes = 1; nodes <= mostNodes; ++nodes) {
        path *= pass.acceptance;
        tokens += path;
        const double cost = nodes * pass.cost + pass.lastCost +
                            costs.relativeResumedCost(pass.verifyShare, nodes + 1);
        const Promise chain{tokens, cost, nodes};
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
