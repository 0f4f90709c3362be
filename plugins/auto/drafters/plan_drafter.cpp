// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/drafters/plan_drafter.h"

#include "engine/decoding/drafts/draft_worth.h"
#include "plugins/auto/drafters/free_beside.h"

#include <algorithm>
#include <utility>

namespace automatic {

using namespace engine;

namespace {

/// What is expected of a plan, as by the score of a trial, counts as if so many rounds had shown
/// it.
constexpr double kScoreRounds = 3.0;

} // namespace

PlanDrafter::PlanDrafter(std::string_view name)
    : ChainDrafter(name) {}

void PlanDrafter::adopt(AdoptedPlan plan, const StepCosts& costs, int maxNodes) {
    m_plan = std::move(plan);
    m_drafter.use(m_plan.plan, m_plan.id);
    forgetRounds(costs, maxNodes);
}

void PlanDrafter::reprice(const PassShares& shares, const StepCosts& costs, int maxNodes) {
    m_plan.shares = shares;
    const double known = acceptance();
    expect(known, bestChain(DraftPass::of(known, shares, costs), costs, maxNodes), kScoreRounds);
}

void PlanDrafter::forgetRounds(const StepCosts& costs, int maxNodes) {
    expect(m_plan.score,
           bestChain(DraftPass::of(m_plan.score, m_plan.shares, costs), costs, maxNodes),
           kScoreRounds);
}

Result<Draft> PlanDrafter::makeDraft(Target& target, const DraftTerms& terms) {
    WeighedStopRule stopRule(0.0, terms.maxNodes);
    stopRule.weigh(rates(), terms.rate, {m_plan.shares.draft, m_plan.shares.verify}, *terms.costs);
    const FreeBeside beside(terms, m_plan.shares, acceptance());
    if (m_plan.shares.resumes()) {
        m_exitDrafter.use({.exitLayers = m_plan.plan.exitAfterLayer + 1,
                           .planId = m_plan.id,
                           .addBeside = [&](DraftTree& chain) { beside.addTo(chain); }});
        return m_exitDrafter.draft(target,
                                   {.maxDepth = terms.maxNodes,
                                    .vocabularyShare = terms.vocabularyShare,
                                    .stopRule = &stopRule});
    }
    ENGINE_TRY(Draft made,
               m_drafter.draft(target,
                               {.maxNodes = terms.maxNodes,
                                .vocabularyShare = terms.vocabularyShare,
                                .stopRule = &stopRule}));
    beside.addTo(made.tree);
    return made;
}

/// The passes of a draft by early exit are recorded together, as passes of their mean share.
void PlanDrafter::recordPasses(const Draft& draft, StepCosts& costs) {
    const int steps = draft.tree.draftSteps();
    if (steps == 0)
        return;
    const PassShares& shares = m_plan.shares;
    if (!shares.resumes()) {
        costs.recordDraft(shares.draft, draft.ms / steps);
        return;
    }
    const double besideCost =
        shares.last * (costs.relativeCost(1 + draft.tree.size() - steps) - 1.0) * costs.oneRowMs();
    costs.recordDraft((steps * shares.draft + shares.last) / (steps + 1),
                      std::max(draft.ms - besideCost, 0.0) / (steps + 1));
}

double PlanDrafter::costOf(const DecodeStep& step, const StepCosts& costs) const {
    const PassShares& shares = m_plan.shares;
    const int steps = step.draft.draftSteps();
    if (steps == 0)
        return costs.relativeCost(step.verifiedRows);
    double cost = steps * costs.relativeDraftCost(shares.draft) +
                  costs.relativeResumedCost(shares.verify, step.verifiedRows);
    if (shares.resumes())
        cost += costs.relativeDraftCost(shares.last) +
                shares.last * (costs.relativeCost(1 + step.draft.size() - steps) - 1.0);
    return cost;
}

} // namespace automatic
