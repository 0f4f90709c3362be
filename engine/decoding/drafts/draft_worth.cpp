// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/drafts/draft_worth.h"

#include <algorithm>

namespace engine {

namespace {

/// The newest rounds count most.
constexpr double kRoundMemory = 0.95;

/// Where the first choice is wrong, so often each further sibling is right if those before it are
/// wrong.
constexpr double kSiblingShare = 0.5;

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

void WeighedStopRule::weigh(const DraftWorth& worth, double share, const StepCosts& costs) {
    m_worth = &worth;
    m_costs = &costs;
    m_passCost = costs.relativeDraftCost(share);
}

int WeighedStopRule::choicesWorth(double confidence, int offered) const {
    ++m_rows;
    if (m_worth == nullptr)
        return offered;
    double promised = m_path * (1.0 - m_worth->rates().at(confidence));
    int kept = 1;
    for (; kept < offered; ++kept, ++m_rows) {
        promised *= kSiblingShare;
        if (promised < m_worth->rate() * rowCost())
            break;
    }
    return kept;
}

std::optional<DraftEnd> WeighedStopRule::stopsAfter(double confidence, int steps) const {
    if (const auto end = unsureOrLong(confidence, m_threshold, steps, m_longest); end || !m_worth)
        return end;
    m_path *= m_worth->rates().at(confidence);
    const double promised = m_path * m_worth->rates().overall();
    const double price = m_worth->rate() * (m_passCost + rowCost());
    if (promised < price)
        return DraftEnd{DraftEndReason::Price, promised, price};
    return std::nullopt;
}

/// Of one row more, in plain steps.
double WeighedStopRule::rowCost() const {
    return std::max(m_costs->relativeCost(m_rows + 1) - m_costs->relativeCost(m_rows), 0.0);
}

} // namespace engine
