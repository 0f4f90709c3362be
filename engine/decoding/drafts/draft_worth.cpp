// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/drafts/draft_worth.h"

#include <algorithm>

namespace engine {

namespace {

/// The newest rounds count most.
constexpr double kRoundMemory = 0.95;

/// A draft goes on past passes that do not pay alone where so many together do: one number of rows
/// may be dearer than those around it, or seem so.
constexpr int kPassesAhead = 4;

} // namespace

void DraftWorth::observe(const DecodeStep& step, double share, const StepCosts& costs) {
    const int passes = step.draft.draftSteps();
    if (passes == 0 || step.planId == 0)
        return;
    m_rates.observe(step);
    m_threshold.observe(step);
    const double cost =
        passes * costs.relativeDraftCost(share) + costs.relativeCost(step.verifiedRows);
    m_tokens = kRoundMemory * m_tokens + static_cast<double>(step.tokens.size());
    m_cost = kRoundMemory * m_cost + cost;
}

void WeighedStopRule::weigh(const ConfidenceRates& rates,
                            double rate,
                            const RoundShares& shares,
                            const StepCosts& costs) {
    weigh(rates, rate, costs.relativeDraftCost(shares.draft), costs);
    m_verifyShare = shares.verify;
}

void WeighedStopRule::weigh(const ConfidenceRates& rates,
                            double rate,
                            double passCost,
                            const StepCosts& costs) {
    m_rates = &rates;
    m_rate = rate;
    m_passCost = passCost;
    m_verifyShare = 1.0;
    m_costs = &costs;
}

int WeighedStopRule::choicesWorth(double confidence, int offered) const {
    if (m_rates == nullptr)
        return offered;
    double refused = m_path * (1.0 - m_rates->at(confidence)); // all choices so far
    int kept = 1;
    for (; kept < offered; ++kept, ++m_siblings) {
        const double promised = refused * m_rates->ofSiblings();
        const int rows = m_steps + 2 + m_siblings; // with the root and this pass' token
        if (promised < m_rate * rowsCost(rows, 1))
            break;
        refused -= promised;
    }
    return kept;
}

std::optional<DraftEnd> WeighedStopRule::stopsAfter(double confidence, int steps) const {
    m_steps = steps;
    if (const auto end = unsureOrLong(confidence, m_threshold, steps, m_longest); end || !m_rates)
        return end;
    m_path *= m_rates->at(confidence);
    const double overall = m_rates->overall();
    const int rows = steps + 1 + m_siblings;
    double promised = 0.0;
    double likely = m_path;
    for (int ahead = 1; ahead <= std::min(kPassesAhead, m_longest - steps); ++ahead) {
        likely *= overall;
        promised += likely;
        if (promised >= m_rate * (ahead * m_passCost + rowsCost(rows, ahead)))
            return std::nullopt;
    }
    return DraftEnd{
        DraftEndReason::Price, m_path * overall, m_rate * (m_passCost + rowsCost(rows, 1))};
}

/// Of so many more rows than there are, in plain steps.
double WeighedStopRule::rowsCost(int rows, int more) const {
    return std::max(m_costs->relativeResumedCost(m_verifyShare, rows + more) -
                        m_costs->relativeResumedCost(m_verifyShare, rows),
                    0.0);
}

DraftChoice
choiceOf(std::string_view drafter, const Draft& draft, const StepCosts& costs, double share) {
    const int nodes = draft.tree.size();
    DraftChoice choice{
        .drafter = nodes > 0 ? drafter : "none", .nodes = nodes, .plainMs = costs.oneRowMs()};
    double path = 1.0;
    for (const double confidence : draft.tree.confidences())
        choice.expectedTokens += path *= confidence;
    choice.expectedCost =
        costs.relativeCost(nodes + 1) + draft.tree.draftSteps() * costs.relativeDraftCost(share);
    return choice;
}

} // namespace engine
