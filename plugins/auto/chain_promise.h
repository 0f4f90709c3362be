// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/statistics/step_costs.h"
#include "engine/model/skip_sets/layer_plan.h"

namespace engine {
struct ModelConfig;
}

namespace automatic {

/// What a round is expected to give and to cost. A plain value.
struct Promise {
    double tokens = 1.0; ///< including the bonus
    double cost = 1.0;   ///< in plain steps
    int nodes = 0;       ///< drafted

    /// Tokens for the time of a plain step.
    double rate() const { return tokens / cost; }
};

/// Which share of the weights each pass of a round reads. A plain value.
struct PassShares {
    double draft = 1.0;  ///< each draft pass, including the head
    double last = 0.0;   ///< the pass that brings the last token to an exit; 0 = there is none
    double verify = 1.0; ///< the verification: all weights, unless it resumes behind an exit

    /// The shares of a plan. The verification resumes if the plan runs the first layers completely
    /// and nothing else. `headPart`: see engine::weightShare().
    static PassShares
    of(const engine::LayerPlan& plan, const engine::ModelConfig& config, double headPart = 1.0);

    bool resumes() const { return last > 0.0; }
};

/// A draft pass: how often its token is accepted, and what it and the other passes of its round
/// cost, in plain steps.
struct DraftPass {
    double acceptance = 0.0;
    double cost = 1.0;
    double lastCost = 0.0;    ///< of the pass described by PassShares::last
    double verifyShare = 1.0; ///< see PassShares

    static DraftPass
    of(double acceptance, const PassShares& shares, const engine::StepCosts& costs);
};

/// The best chain of 1 to `mostNodes` tokens: the one that gives the most tokens for its time.
Promise bestChain(const DraftPass& pass, const engine::StepCosts& costs, int mostNodes);

/// A rate that a draft must reach, in tokens for the time of a plain step, with passes of this
/// cost.
struct RateAsked {
    double rate = 1.0;
    double passCost = 1.0;
};

/// The least acceptance at which a chain reaches the rate; 2 if none does.
double neededAcceptance(const RateAsked& asked, const engine::StepCosts& costs, int mostNodes);

} // namespace automatic
