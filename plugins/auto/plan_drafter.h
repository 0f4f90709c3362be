// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/draft_worth.h"
#include "engine/decoding/drafts/exit_drafter.h"
#include "engine/decoding/drafts/self_drafter.h"
#include "engine/decoding/free/free_drafter.h"
#include "engine/decoding/statistics/confidence_rates.h"
#include "plugins/auto/chain_promise.h"

#include <array>
#include <string_view>

namespace automatic {

/// A plan to draft with, and why.
struct AdoptedPlan {
    engine::LayerPlan plan;
    PassShares shares = {};
    double score = 0.0; ///< matchness that made it the choice
    std::uint64_t id = 0;
};

/// Drafts with one plan that leaves layers out, a skip set or an early exit, and learns what that
/// gives: how often a token of each confidence is accepted, and how many tokens a round gave for
/// which cost, separately for rounds in which a free draft was likely.
///
/// A draft goes on as long as the next pass pays; then the nodes of DraftTerms::free that pay are
/// added beside it. Behind an early exit the verification resumes; the free nodes then come to the
/// exit in the pass that the last token of the chain needs anyway. Needs DraftTerms::costs.
class PlanDrafter final : public engine::Drafter {
public:
    explicit PlanDrafter(std::string_view name);

    std::string_view name() const { return m_name; }

    /// Drafts with this plan from now on and forgets the statistics of the one before.
    void adopt(AdoptedPlan plan, const engine::StepCosts& costs, int maxNodes);

    bool hasPlan() const { return m_plan.id != 0; }

    const AdoptedPlan& plan() const { return m_plan; }

    /// What a round is expected to give when the best free token has this probability.
    Promise promise(double freeProbability) const;

    /// The same over all rounds.
    Promise promise() const;

    /// How often the token of a pass is accepted.
    double acceptance() const { return m_rates.overall(); }

    /// Records what the passes of such a draft took.
    void recordPasses(const engine::Draft& draft, engine::StepCosts& costs) const;

    /// What a round that it drafted costs, in plain steps.
    double costOf(const engine::DecodeStep& step, const engine::StepCosts& costs) const;

    /// Learns from a round that it drafted, which cost so many plain steps; `freeProbability` is
    /// what promise() was asked with.
    void learn(const engine::DecodeStep& step, double freeProbability, double cost);

    /// Forgets the statistics: they depend on the plan and on how tokens are drawn.
    void forgetRounds(const engine::StepCosts& costs, int maxNodes);

private:
    /// Decayed sums over rounds.
    struct Rounds {
        double count = 0.0;
        double tokens = 0.0;
        double cost = 0.0;
        double nodes = 0.0;

        void add(const Promise& round, double weight);
        Promise mean() const;
    };

    engine::Result<engine::Draft> makeDraft(engine::Target& target,
                                            const engine::DraftTerms& terms) override;
    Rounds& roundsAt(double freeProbability);

    std::string_view m_name;
    AdoptedPlan m_plan;
    engine::SelfDrafter m_drafter;
    engine::ExitDrafter m_exitDrafter;
    engine::ConfidenceRates m_rates;
    std::array<Rounds, 2> m_rounds; // while a free token was unlikely, and while it was likely
};

} // namespace automatic
