// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/compare/comparison.h"
#include "app/data/prompt_source.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace app {

/// What one decoder did on many prompts.
struct DecoderSums {
    int prompts = 0;
    int equal = 0;
    int nearTies = 0;
    DecodeTally tally;
    double promptSeconds = 0.0;
    double decodeSeconds = 0.0;
    double rateSum = 0.0; ///< of the prompts' own tokens a second

    void add(const PromptOutcome& outcome);

    double tokensPerSecond() const;           ///< all tokens over all time behind the prompts
    double tokensPerSecondWithPrompt() const; ///< the time of the prompts counted in
    double meanTokensPerSecond() const;       ///< mean of the prompts' own rates
};

/// Collects outcomes by task and over all, and shows them. Thread: one.
class ComparisonReport {
public:
    /// `vanilla` is the index of what the others are measured against.
    ComparisonReport(std::vector<std::string> decoders, std::size_t vanilla);

    void add(const std::string& task, const std::vector<PromptOutcome>& outcomes);

    void addLeftOut() { ++m_leftOut; }

    int prompts() const { return m_all.front().prompts; }

    /// One JSON object of a prompt and a decoder.
    nlohmann::ordered_json
    promptLine(const DataPrompt& prompt, std::size_t decoder, const PromptOutcome& outcome) const;

    /// The "done" line.
    nlohmann::ordered_json doneLine(const DataSummary& data, bool isIncomplete) const;

    /// The same as a table, for each task (when there are several) and over all.
    std::string table(const DataSummary& data, bool isIncomplete) const;

private:
    using Sums = std::vector<DecoderSums>; // [decoders]

    nlohmann::ordered_json sumsJson(const Sums& sums) const;
    std::string rows(const std::string& task, const Sums& sums) const;

    std::vector<std::string> m_decoders;
    std::size_t m_vanilla;
    Sums m_all;
    std::map<std::string, Sums> m_byTask;
    int m_leftOut = 0;
};

} // namespace app
