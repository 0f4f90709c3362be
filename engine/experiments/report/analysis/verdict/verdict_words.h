// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/analysis/measures/measures.h"

#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// How many answers of all drafting variants are vanilla's. A plain value.
struct EqualCounts {
    int compared = 0;
    int equal = 0;
    int nearTies = 0;
};

EqualCounts equalCounts(const RunData& data);

/// "No token differs in 180 answers." or how many differ; empty if none was compared.
std::string equalSentence(const RunData& data);

/// Of a value of this measure: " (1.27 to 1.35, 60 prompts)"; empty without an interval.
std::string intervalWords(std::string_view measure, const Estimate& value);

/// What drafting and verifying cost and gave, and what equation 6 expects of it.
std::string costSentence(const Selection& selection);

/// The same, begun by the reason why it does not pay.
std::string noGainSentence(const Selection& selection);

/// Whether each task's own set is the fastest one on it.
class OwnSets {
public:
    void add(const std::string& task,
             const Estimate& own,
             const std::string& bestOther,
             const Estimate& other);

    ExperimentVerdict verdict() const;

private:
    int m_tasks = 0;
    int m_wins = 0;
    double m_ownSum = 0.0;
    double m_otherSum = 0.0;
    std::vector<std::string> m_losses;   // sentences
    std::vector<std::string> m_overlaps; // tasks
    std::vector<std::string> m_slow;     // tasks whose best set is slower than vanilla
};

} // namespace engine
