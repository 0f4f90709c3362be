// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/learnt/step_costs.h"
#include "engine/model/layer_plan.h"

namespace engine {
struct ModelConfig;
}

namespace automatic {

/// What a round is expected to give and to cost. A plain value.
struct Promise {
    double tokens = 1.0; ///< the bonus included
    double cost = 1.0;   ///< in plain steps
    int nodes = 0;       ///< drafted

    /// Tokens for the time of a plain step.
    double rate() const { return tokens / cost; }
};

/// What the passes of a round read, as shares of the weights. A plain value.
struct PassShares {
    double draft = 1.0;  ///< each draft pass, the head included
    double last = 0.0;   ///< the pass that brings the last token to an exit; 0 = there is none
    double verify = 1.0; ///< the verification; all weights unless it resumes behind an exit

    /// Those of a plan: the verification of what was drafted by all of the first layers, and by
    /// nothing else, resumes.
    static PassShares of(const engine::LayerPlan& plan, const engine::ModelConfig& config);

    bool resumes() const { return last > 0.0; }
};

/// A draft pass: how often its token is taken, and what it and the passes of its round cost in
/// plain steps.
struct DraftPass {
    double acceptance = 0.0;
    double cost = 1.0;
    double lastCost = 0.0;    ///< of the pass that PassShares::last is of
    double verifyShare = 1.0; ///< see PassShares

    static DraftPass
    of(double acceptance, const PassShares& shares, const engine::StepCosts& costs);
};

/// The chain of draft passes that gives the most tokens for its time, of 1 to `mostNodes` tokens.
Promise bestChain(const DraftPass& pass, const engine::StepCosts& costs, int mostNodes);

/// What is asked of a draft: tokens for the time of a plain step, with passes of this cost.
struct RateAsked {
    double rate = 1.0;
    double passCost = 1.0;
};

/// The least acceptance at which a chain reaches the rate; 2 when none does.
double neededAcceptance(const RateAsked& asked, const engine::StepCosts& costs, int mostNodes);

} // namespace automatic
