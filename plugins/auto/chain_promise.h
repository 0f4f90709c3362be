// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/step_costs.h"

namespace automatic {

/// What a round is expected to give and to cost. A plain value.
struct Promise {
    double tokens = 1.0; ///< the bonus included
    double cost = 1.0;   ///< in plain steps
    int nodes = 0;       ///< drafted

    /// Tokens for the time of a plain step.
    double rate() const { return tokens / cost; }
};

/// A draft pass: how often its token is taken, and its cost in plain steps.
struct DraftPass {
    double acceptance = 0.0;
    double cost = 1.0;
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
