// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/draft_stop_rule.h"
#include "engine/decoding/round/draft_tree.h"
#include "engine/decoding/round/verifier.h"
#include "engine/decoding/target.h"

#include <array>
#include <string_view>

namespace engine {

/// How many choices a draft pass leaves in the tree, by the probability of the first one: the less
/// sure, the more. Source: arXiv 2410.06916 section 4.2; swift.md 3.2.
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

/// How a draft may grow.
struct SelfDraftOptions {
    SiblingSchedule siblings = {};
    int maxNodes = 7;
    VerifyRule rule = VerifyRule::Match;
    /// Match: draws share vanilla's noise, which makes draft and model agree far more often; false
    /// takes the most probable token instead (for comparison).
    bool sharesNoise = true;
};

/// The random decisions of a draft: all that it depends on besides its input.
class DraftDraws {
public:
    virtual ~DraftDraws() = default;

    /// At most `count` different tokens of `q`, as drawn one after the other without replacement.
    virtual std::vector<TokenId>
    drawSeveral(const Distribution& q, int count, Position outputPosition) = 0;
};

/// Drafts with the target's own weights under a plan that leaves sublayers out. Draft rows are
/// written behind the committed ones and forgotten. Thread: engine.
class SelfDrafter {
public:
    /// `draws` must outlive the drafter; null: counter random numbers under the sampler's seed, for
    /// Match vanilla's own.
    explicit SelfDrafter(DraftDraws* draws = nullptr)
        : m_draws(draws) {}

    /// Drafts behind the pending token until `stopRule` ends it, the tree is full or the answer has
    /// no room for more. Errors: those of a pass; Cancelled between passes.
    /// Source: arXiv 2410.06916 section 4.2; swift.md 3.
    Result<DraftTree> draft(Target& target,
                            const LayerPlan& plan,
                            const DraftStopRule& stopRule,
                            const SelfDraftOptions& options);

private:
    DraftDraws* m_draws;
    ForwardResult m_pass;      // of the newest draft pass, its memory used again
    std::uint64_t m_round = 0; // keys the draws of recursive rejection
};

} // namespace engine
