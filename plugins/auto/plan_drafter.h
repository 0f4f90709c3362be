// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/exit_drafter.h"
#include "engine/decoding/drafts/self_drafter.h"
#include "engine/decoding/free/free_drafter.h"
#include "engine/decoding/learnt/decayed_rate.h"
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

/// What a draft by passes is weighed with.
struct DraftTerms {
    const engine::StepCosts& costs;
    const engine::FreeDraft& free; ///< what would be drafted without a pass
    double rate = 1.0;             ///< tokens for the time of a plain step that time is worth
    int maxNodes = 0;
};

/// What is verified, and what it took to draft it.
struct PlannedDraft {
    /// Its hidden states are guests of the drafter, until its next draft.
    engine::VerifyRequest request = {};
    double verifyShare = 1.0; ///< of the weights, see PassShares
    double layerLoads = 0.0;  ///< see DecodeStep::draftLayers
};

/// Drafts with one plan that leaves layers out, a skip set or an early exit, and learns what that
/// gives: for each confidence how often its token is taken, and for rounds where a free draft is
/// likely, and others, how many tokens came for which cost. Thread: engine.
class PlanDrafter {
public:
    explicit PlanDrafter(std::string_view name);

    std::string_view name() const { return m_name; }

    /// Draft with this from now on; what was learnt of another plan is forgotten.
    void adopt(AdoptedPlan plan, const engine::StepCosts& costs, int maxNodes);

    bool hasPlan() const { return m_plan.id != 0; }

    const AdoptedPlan& plan() const { return m_plan; }

    /// What a round is expected to give where the best free token is as likely as this.
    Promise promise(double freeProbability) const;

    /// The same whatever the free drafts are.
    Promise promise() const;

    /// How often the token of a pass is taken.
    double acceptance() const { return m_acceptance.value(); }

    /// Passes as long as the next one pays, then the free nodes that pay beside them. Behind an
    /// early exit the verification resumes; the free nodes then come to the exit by the pass that
    /// the last token of the chain needs all the same.
    engine::Result<PlannedDraft> draft(engine::Target& target, const DraftTerms& terms);

    /// Such a draft took so long.
    void recordPasses(const engine::DraftTree& draft, double ms, engine::StepCosts& costs) const;

    /// What a round that it drafted costs, plain steps.
    double costOf(const engine::DecodeStep& step, const engine::StepCosts& costs) const;

    /// Learns from a round that it drafted, which cost so many plain steps; `freeProbability` is
    /// what was told before it.
    void learn(const engine::DecodeStep& step, double freeProbability, double cost);

    /// What was learnt depends on how tokens are drawn.
    void forgetRounds(const engine::StepCosts& costs, int maxNodes);

private:
    static constexpr int kConfidences = 8;

    /// Decayed sums over rounds.
    struct Rounds {
        double count = 0.0;
        double tokens = 0.0;
        double cost = 0.0;
        double nodes = 0.0;

        void add(const Promise& round, double weight);
        Promise mean() const;
    };

    double acceptanceAt(double confidence) const;
    static std::size_t confidenceIndex(double confidence);
    Rounds& roundsAt(double freeProbability);

    friend class PayingStopRule;

    std::string_view m_name;
    AdoptedPlan m_plan;
    engine::SelfDrafter m_drafter;
    engine::ExitDrafter m_exitDrafter;
    std::array<engine::DecayedRate, kConfidences> m_byConfidence;
    engine::DecayedRate m_acceptance;
    std::array<Rounds, 2> m_rounds; // a free token is unlikely, likely
};

} // namespace automatic
