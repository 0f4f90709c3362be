// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/draft_terms.h"
#include "engine/decoding/drafts/draft_worth.h"
#include "engine/decoding/target.h"

#include <span>
#include <vector>

namespace automatic {

/// A round as it would have gone over tokens that are known already. A plain value.
struct ReplayedRound {
    int draftSteps = 0;
    int rows = 1;   ///< of its verification
    int tokens = 1; ///< accepted ones and the bonus
};

/// What a skip set drafts behind tokens of an answer that it was not chosen by. A plain value.
struct Replay {
    std::vector<ReplayedRound> rounds;
    int matches = 0; ///< first choices that are the model's own
    int rows = 0;

    void add(const Replay& other);
};

/// How SWIFT's profile `ours` drafts.
struct ReplayTerms {
    double epsilon = 0.0;
    int longest = 1;
    engine::SiblingSchedule siblings = {};
    int maxNodes = 1;
    double share = 1.0; ///< of the weights, read by a draft pass
};

/// SWIFT's rounds over `expected`, whose tokens the rows of `summaries` predict. `worth` has
/// learnt from the rounds before and learns from these. A round whose draft goes on behind the last
/// token is left out, unless it is the only one. Shapes: summaries, expected [n], n > 0.
Replay replayRounds(std::span<const engine::HeadSummary> summaries,
                    std::span<const engine::TokenId> expected,
                    const ReplayTerms& terms,
                    const engine::StepCosts& costs,
                    engine::DraftWorth& worth);

/// Tokens of an answer, counted from its first one.
struct AnswerPart {
    int first = 0;
    int most = 0;
};

/// The same for a set and a part of the newest answer: one pass, whose rows see the model's own
/// keys as a draft's first row does. Errors: those of a pass.
engine::Result<Replay> replayAnswer(engine::Target& target,
                                    const engine::LayerPlan& plan,
                                    const AnswerPart& part,
                                    const engine::StepCosts& costs,
                                    engine::DraftWorth& worth);

} // namespace automatic
