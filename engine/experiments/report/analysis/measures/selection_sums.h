// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/analysis/run_data.h"
#include "engine/experiments/report/experiment_result.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace engine {

/// A measure that follows from rounds alone: M, acceptance, draft lengths, layers; none for another
/// one, and where nothing was drafted.
std::optional<double> roundMeasure(std::string_view name, const DecodeMetrics& sums);

/// The sums over a selection, and the measures that follow from them: all but the speedups. A
/// search that was made anew under several seeds counts as one, with the mean of what they took.
class SelectionSums {
public:
    explicit SelectionSums(const Selection& selection);

    const DecodeMetrics& decoding() const { return m_decoding; }

    /// A measure of measureNames(); none if nothing of the kind was measured.
    std::optional<Estimate> value(std::string_view name) const;

private:
    std::optional<double> ofEquationSix(std::string_view name) const;
    std::optional<double> ofTime(std::string_view name) const;
    std::optional<Estimate> ofAnswers(std::string_view name) const;
    std::optional<Estimate> ofSearch(std::string_view name) const;
    std::optional<double> plainMs() const;
    void addDifference(const ShardAnswer& answer);

    DecodeMetrics m_decoding;
    double m_decodeMs = 0.0;
    double m_searchMs = 0.0; ///< of first passes alone
    long m_tokens = 0;
    int m_prompts = 0; ///< of each variant and model; the answers under all seeds together
    int m_answers = 0;
    int m_compared = 0; ///< answers beside one of vanilla
    int m_equal = 0;
    int m_nearTies = 0;
    int m_draws = 0;
    std::optional<int> m_firstDifference; ///< from 0
    std::optional<double> m_widestGap;    ///< where answers differ
    double m_ratioSum = 0.0;
    int m_ratios = 0;
    double m_vanillaMs = 0.0;
    long m_vanillaTokens = 0;
    std::map<std::string, std::pair<double, int>> m_quality; // sum and answers
    std::map<std::string, double> m_trials;                  // by kind
    std::optional<double> m_newestScore;
    std::optional<double> m_bestScore;
    double m_trialSeconds = 0.0; ///< of searches without answers
    const ShardPlan* m_lastPlan = nullptr;
};

} // namespace engine
