// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/draft_stop_rule.h"
#include "engine/decoding/round/draft.h"
#include "engine/decoding/round/verifier.h"

#include <array>
#include <limits>
#include <optional>
#include <string_view>

namespace engine {

class StepCosts;

/// How many choices a draft pass leaves in the tree, by the probability of the first one: the less
/// sure, the more. Source: arXiv 2410.06916 section 4.2.
struct SiblingSchedule {
    /// For a probability above .95, above .8, above .5, and the rest.
    std::array<int, 4> counts = {1, 1, 1, 1};

    /// "1,3,5,10". Errors: InvalidInput unless there are four whole numbers from 1 to 64.
    static Result<SiblingSchedule> parse(std::string_view text);

    int choicesAt(double probability) const {
        constexpr std::array<double, 3> kBounds = {0.95, 0.8, 0.5};
        for (std::size_t i = 0; i < kBounds.size(); ++i)
            if (probability > kBounds[i])
                return counts[i];
        return counts.back();
    }

    bool operator==(const SiblingSchedule&) const = default;
};

/// What a draft may be and what it is for; each drafter reads the terms that concern it. Whatever
/// they say, a draft leaves room for the bonus token and ends at a token that ends the answer.
/// Pointers are guests of the call.
struct DraftTerms {
    SiblingSchedule siblings = {}; ///< drafts by early exit are chains, whatever this says
    int maxNodes = std::numeric_limits<int>::max();
    VerifyRule rule = VerifyRule::Match; ///< by which the draft will be verified
    /// Match: draws share vanilla's noise, which makes draft and model agree far more often; false
    /// takes the most probable token instead (for comparison).
    bool sharesNoise = true;
    int maxDepth = std::numeric_limits<int>::max(); ///< tokens in a row
    double vocabularyShare = 1.0;                   ///< that a draft chooses from, see DraftHead
    /// Asked behind each draft pass whether the draft ends there; null = no.
    const DraftStopRule* stopRule = nullptr;

    // For drafters that weigh what a node gives against what it costs:
    const StepCosts* costs = nullptr; ///< what passes cost
    double rate = 1.0;                ///< tokens that the time of a plain step is worth
    const Draft* free = nullptr;      ///< took no pass; its nodes may join the draft

    std::optional<DraftEnd> stopsAfter(double confidence, int steps) const {
        return stopRule == nullptr ? std::nullopt : stopRule->stopsAfter(confidence, steps);
    }

    int choicesWorth(double confidence, int offered) const {
        return stopRule == nullptr ? offered : stopRule->choicesWorth(confidence, offered);
    }
};

} // namespace engine
