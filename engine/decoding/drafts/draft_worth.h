// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/draft_stop_rule.h"
#include "engine/decoding/round/decode_step.h"
#include "engine/decoding/round/draft.h"
#include "engine/decoding/statistics/calibrated_threshold.h"
#include "engine/decoding/statistics/confidence_rates.h"
#include "engine/decoding/statistics/step_costs.h"

namespace engine {

/// What drafting with a plan gives at present: how often drafted tokens are accepted, and how many
/// tokens the rounds make in the time of a plain step. A plain value.
class DraftWorth {
public:
    /// Nothing is known of the plan.
    DraftWorth() = default;

    /// Nothing is known of the plan but its matchness.
    explicit DraftWorth(double matchness)
        : m_rates(matchness) {}

    /// The same, but the threshold goes on from where it was with `before`, the plan until now.
    DraftWorth(double matchness, const DraftWorth& before)
        : m_rates(matchness)
        , m_threshold(before.m_threshold) {}

    /// Learns from a round whose draft passes read this share of the weights.
    void observe(const DecodeStep& step, double share, const StepCosts& costs);

    const ConfidenceRates& rates() const { return m_rates; }

    /// See CalibratedThreshold::below.
    double thresholdBelow(double epsilon) const { return m_threshold.below(epsilon); }

    /// Tokens for the time of a plain step, of the newest rounds.
    double rate() const { return m_tokens / m_cost; }

private:
    /// As if so many rounds had been worth as much as plain steps.
    static constexpr double kPriorRounds = 3.0;

    ConfidenceRates m_rates;
    CalibratedThreshold m_threshold;
    double m_tokens = kPriorRounds; // decayed sums over rounds
    double m_cost = kPriorRounds;   // in plain steps
};

/// What the passes of a round read of the weights. A plain value.
struct RoundShares {
    double draft = 1.0;  ///< each draft pass
    double verify = 1.0; ///< the verification; less than all if it resumes behind an exit
};

/// A threshold and a longest draft, as ConfidenceStopRule. Weighed, a draft also ends where further
/// passes and their rows promise fewer tokens than their time gives otherwise, and a pass keeps
/// only the siblings that are worth their rows. Made for one draft.
class WeighedStopRule final : public DraftStopRule {
public:
    /// Weighs nothing.
    WeighedStopRule(double threshold, int longest)
        : m_threshold(threshold)
        , m_longest(longest) {}

    /// From now on weighs. `rate`: tokens that the time of a plain step gives otherwise. `rates`
    /// and `costs` are borrowed.
    void weigh(const ConfidenceRates& rates,
               double rate,
               const RoundShares& shares,
               const StepCosts& costs);

    /// The same for passes that cost so many plain steps each, before a verification of all layers.
    void weigh(const ConfidenceRates& rates, double rate, double passCost, const StepCosts& costs);

    std::optional<DraftEnd> stopsAfter(double confidence, int steps) const override;
    int choicesWorth(double confidence, int offered) const override;

private:
    double rowsCost(int rows, int more) const;

    double m_threshold;
    int m_longest;
    double m_rate = 1.0;
    double m_passCost = 0.0; // in plain steps
    double m_verifyShare = 1.0;
    const ConfidenceRates* m_rates = nullptr;
    const StepCosts* m_costs = nullptr;
    mutable double m_path = 1.0; // the probability that all tokens drafted so far are accepted
    mutable int m_steps = 0;     // draft passes so far
    mutable int m_siblings = 0;  // kept so far
};

/// What views show beside the draft tree: who drafted, and what was expected of it. `share`: the
/// part of the weights that a draft pass reads.
DraftChoice
choiceOf(std::string_view drafter, const Draft& draft, const StepCosts& costs, double share);

} // namespace engine
