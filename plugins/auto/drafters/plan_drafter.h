// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/exit_drafter.h"
#include "engine/decoding/drafts/self_drafter.h"
#include "plugins/auto/drafters/chain_drafter.h"

#include <string_view>

namespace automatic {

/// A plan to draft with, and why.
struct AdoptedPlan {
    engine::LayerPlan plan;
    PassShares shares = {};
    double score = 0.0; ///< matchness that made it the choice
    std::uint64_t id = 0;
};

/// Drafts with one plan that leaves layers out, a skip set or an early exit. Behind an early exit
/// the verification resumes; the free nodes then come to the exit in the pass that the last token
/// of the chain needs anyway.
class PlanDrafter final : public ChainDrafter {
public:
    explicit PlanDrafter(std::string_view name);

    /// Drafts with this plan from now on and forgets the statistics of the one before.
    void adopt(AdoptedPlan plan, const engine::StepCosts& costs, int maxNodes);

    /// The plan's passes read these shares of the weights from now on. What its rounds cost is
    /// expected anew; how often its tokens are accepted is still known.
    void reprice(const PassShares& shares, const engine::StepCosts& costs, int maxNodes);

    bool hasPlan() const { return m_plan.id != 0; }

    bool isReady() const override { return hasPlan(); }

    const AdoptedPlan& plan() const { return m_plan; }

    void recordPasses(const engine::Draft& draft, engine::StepCosts& costs) override;
    double costOf(const engine::DecodeStep& step, const engine::StepCosts& costs) const override;
    void forgetRounds(const engine::StepCosts& costs, int maxNodes) override;

private:
    engine::Result<engine::Draft> makeDraft(engine::Target& target,
                                            const engine::DraftTerms& terms) override;

    AdoptedPlan m_plan;
    engine::SelfDrafter m_drafter;
    engine::ExitDrafter m_exitDrafter;
};

} // namespace automatic
