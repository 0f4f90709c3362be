// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/del/choice/exit_statistics.h"

#include <functional>
#include <span>
#include <vector>

namespace del {

/// What one exit promises at its best. A plain value.
struct ExitOffer {
    int exit = 1;       ///< layers that a draft pass runs
    int steps = 0;      ///< k, tokens to draft; 0 = nothing pays
    double value = 0.0; ///< tokens per layer, or per millisecond
};

/// What k tokens drafted at an exit are worth.
using ExitValue = std::function<double(int exit, int steps)>;

/// The sum of alpha^i for i = 0..steps: the tokens that a round of so many drafted ones gives, the
/// bonus included, where each is taken with probability alpha.
double expectedTokens(double alpha, int steps);

/// Tokens per layer load, TPL: the loads of a round are those of its draft passes and of the full
/// model once. Source: arXiv 2504.05598 equation 4
double tokensPerLayer(double alpha, const ExitOffer& round, int layerCount);

/// The best number of steps, 0 to `mostSteps`, for each exit; of equals the fewest.
std::vector<ExitOffer>
bestOfEach(std::span<const int> exits, int mostSteps, const ExitValue& value);

/// The best of these, of equals the first; without any a plain step of no value.
ExitOffer bestOf(std::span<const ExitOffer> offers);

/// tau: a draft ends behind a token that is less probable than this. The middle between the mean
/// confidence of matches and that of mismatches, at most .99. Where there was no mismatch their
/// mean counts as 0; an exit that never matched has 1, so that a draft ends behind its first token.
/// `isOfficial`: the quotient alone, not a number for lack of matches or mismatches, and then no
/// draft ever ends by it, as in the published code.
/// Source: arXiv 2504.05598 section 3.3
double dynamicThreshold(const ExitCounts& counts, bool isOfficial);

/// The exits that are compared while `exit` is drafted with: those at most `near` layers away, and
/// every `stride`-th. Ascending; 1 <= exit < layerCount.
std::vector<int> thinnedExits(int exit, int near, int stride, int layerCount);

} // namespace del
