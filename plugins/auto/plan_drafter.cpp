// SPDX-License-Identifier: Apache-2.0
#include "plugins/auto/plan_drafter.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace automatic {

using namespace engine;

namespace {

/// Rounds that a scored window stands for until there are real ones, and how fast those fade.
constexpr double kPriorRounds = 3.0;
constexpr double kRoundMemory = 0.97;

/// A free token of this probability counts as likely.
constexpr double kLikely = 0.5;

/// Adds the nodes of a free draft that pay beside a chain that cost passes: whatever the chain
/// already holds is no further row, what departs from it counts only where the chain is wrong.
class FreeBeside {
public:
    FreeBeside(const DraftTerms& terms, const PassShares& shares, double acceptance)
        : m_terms(terms)
        , m_shares(shares)
        , m_besideChain(1.0 - acceptance) {}

    void addTo(DraftTree& tree) const {
        const DraftTree& free = m_terms.free->tree;
        std::vector<double> paths;
        std::vector<int> places; // in `tree`; kNowhere = left out
        for (int index = 0; index < free.size(); ++index) {
            const DraftNode& node = free.node(index);
            const auto parent = static_cast<std::size_t>(node.parent);
            const bool isFirst = node.parent < 0;
            paths.push_back(node.probability * (isFirst ? 1.0 : paths[parent]));
            const int below = isFirst ? -1 : places[parent];
            places.push_back(below == kNowhere ? kNowhere : place(tree, node, below, paths.back()));
        }
    }

private:
    static constexpr int kNowhere = -2;

    int place(DraftTree& tree, const DraftNode& node, int parent, double path) const {
        for (const int child : tree.children(parent))
            if (tree.node(child).token == node.token)
                return child;
        if (tree.size() >= m_terms.maxNodes || path * m_besideChain < m_terms.rate * rowCost(tree))
            return kNowhere;
        return tree.add(node.token, parent, node.probability);
    }

    /// Of one row more: behind an exit a part of it falls to the pass before the verification.
    double rowCost(const DraftTree& tree) const {
        const StepCosts& costs = *m_terms.costs;
        const int rows = tree.size() + 1;
        const int early = rows - tree.draftSteps(); // of that pass
        return m_shares.last * (costs.relativeCost(early + 1) - costs.relativeCost(early)) +
               costs.relativeResumedCost(m_shares.verify, rows + 1) -
               costs.relativeResumedCost(m_shares.verify, rows);
    }

    const DraftTerms& m_terms;
    const PassShares& m_shares;
    double m_besideChain;
};

} // namespace

void PlanDrafter::Rounds::add(const Promise& round, double weight) {
    count = kRoundMemory * count + weight;
    tokens = kRoundMemory * tokens + weight * round.tokens;
    cost = kRoundMemory * cost + weight * round.cost;
    nodes = kRoundMemory * nodes + weight * round.nodes;
}

Promise PlanDrafter::Rounds::mean() const {
    if (count <= 0.0)
        return {};
    return {tokens / count, cost / count, static_cast<int>(nodes / count + 0.5)};
}

PlanDrafter::PlanDrafter(std::string_view name)
    : m_name(name) {}

void PlanDrafter::adopt(AdoptedPlan plan, const StepCosts& costs, int maxNodes) {
    m_plan = std::move(plan);
    m_drafter.use(m_plan.plan, m_plan.id);
    forgetRounds(costs, maxNodes);
}

void PlanDrafter::forgetRounds(const StepCosts& costs, int maxNodes) {
    m_rates = ConfidenceRates(m_plan.score);
    const Promise promised =
        bestChain(DraftPass::of(m_plan.score, m_plan.shares, costs), costs, maxNodes);
    for (Rounds& rounds : m_rounds) {
        rounds = {};
        rounds.add(promised, kPriorRounds);
    }
}

PlanDrafter::Rounds& PlanDrafter::roundsAt(double freeProbability) {
    return m_rounds[freeProbability < kLikely ? 0 : 1];
}

Promise PlanDrafter::promise(double freeProbability) const {
    return m_rounds[freeProbability < kLikely ? 0 : 1].mean();
}

Promise PlanDrafter::promise() const {
    Rounds all = m_rounds.front();
    all.count += m_rounds.back().count;
    all.tokens += m_rounds.back().tokens;
    all.cost += m_rounds.back().cost;
    all.nodes += m_rounds.back().nodes;
    return all.mean();
}

Result<Draft> PlanDrafter::makeDraft(Target& target, const DraftTerms& terms) {
    WeighedStopRule stopRule(0.0, terms.maxNodes);
    stopRule.weigh(m_rates, terms.rate, {m_plan.shares.draft, m_plan.shares.verify}, *terms.costs);
    const FreeBeside beside(terms, m_plan.shares, m_rates.overall());
    if (m_plan.shares.resumes()) {
        m_exitDrafter.use({.exitLayers = m_plan.plan.exitAfterLayer + 1,
                           .planId = m_plan.id,
                           .addBeside = [&](DraftTree& chain) { beside.addTo(chain); }});
        return m_exitDrafter.draft(target, {.maxDepth = terms.maxNodes, .stopRule = &stopRule});
    }
    ENGINE_TRY(Draft made,
               m_drafter.draft(target, {.maxNodes = terms.maxNodes, .stopRule = &stopRule}));
    beside.addTo(made.tree);
    return made;
}

/// The passes of a draft by early exit are recorded together, as passes of their mean share.
void PlanDrafter::recordPasses(const Draft& draft, StepCosts& costs) const {
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

void PlanDrafter::learn(const DecodeStep& step, double freeProbability, double cost) {
    m_rates.observe(step);
    roundsAt(freeProbability)
        .add({static_cast<double>(step.tokens.size()), cost, step.draft.size()}, 1.0);
}

} // namespace automatic
