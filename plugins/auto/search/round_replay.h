// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/draft_terms.h"
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

/// SWIFT's rounds over `expected`, whose tokens the rows of `summaries` predict. A round whose
/// draft goes on behind the last one is left out, unless it is the only one. Shapes: summaries,
/// expected [n], n > 0.
Replay replayRounds(std::span<const engine::HeadSummary> summaries,
                    std::span<const engine::TokenId> expected,
                    const engine::DraftTerms& terms);

/// The same for a set and the answer's tokens from `first` on, `most` at most: one pass, whose rows
/// see the model's own keys as a draft's first row does. Errors: those of a pass.
engine::Result<Replay>
replayAnswer(engine::Target& target, const engine::LayerPlan& plan, int first, int most);

} // namespace automatic
