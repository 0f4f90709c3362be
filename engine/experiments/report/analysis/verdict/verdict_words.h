// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/analysis/measures/measures.h"

#include <span>
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

EqualCounts equalCounts(const Selection& selection);

/// "No token differs in 180 answers." or how many differ; empty if none was compared.
std::string equalSentence(const EqualCounts& counts);

/// Of all variants.
std::string equalSentence(const RunData& data);

/// What the two-sample tests of several variants say together.
struct DrawnWords {
    std::string sentence = {}; ///< empty without such tests
    bool hasOthers = false;    ///< one draws from another distribution than vanilla
};

/// A variant differs if its p-value is below .05 / the number of tests (Bonferroni's correction).
DrawnWords drawnWords(const RunData& data, std::span<const ReportVariant* const> variants);

/// Of a value of this measure: " (1.27 to 1.35, 60 prompts)"; empty without an interval.
std::string intervalWords(std::string_view measure, const Estimate& value);

/// " With 3 prompts alone ..." behind other sentences; empty for enough prompts, and for a measure
/// that is no speedup.
std::string fewPromptsSentence(std::string_view measure, const Estimate& value);

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
