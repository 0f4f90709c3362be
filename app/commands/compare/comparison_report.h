// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/compare/comparison.h"
#include "app/data/prompt_source.h"
#include "app/streams/console.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace app {

/// A score of several answers, each half counted.
struct ScoreSum {
    double sum = 0.0;
    int answers = 0;

    std::optional<double> mean() const {
        return answers > 0 ? std::optional(sum / answers) : std::nullopt;
    }
};

/// One decoder's results on many prompts.
struct DecoderSums {
    int prompts = 0;
    int equal = 0;
    int nearTies = 0;
    DecodeTally tally;
    double promptSeconds = 0.0;
    double decodeSeconds = 0.0;
    double rateSum = 0.0;  ///< of the prompts' own tokens per second
    double layerSum = 0.0; ///< of the prompts' own tokens per layer
    std::array<ScoreSum, AnswerQuality::kNames.size()> quality = {}; ///< [names]

    void add(const PromptOutcome& outcome);

    double tokensPerSecond() const;           ///< all tokens over all time after the prompts
    double tokensPerSecondWithPrompt() const; ///< the same, including the time of the prompts
    double meanTokensPerSecond() const;       ///< mean of the prompts' own rates
    double meanTokensPerLayer() const;        ///< mean of the prompts' own: eTPL

    /// Where the time after the prompts went besides drafting, verifying and searching.
    double otherMs() const;

    /// Milliseconds of each emitted token.
    double perToken(double ms) const;
};

/// One decoder's results, and vanilla's on the same prompts: a decoder that was dropped has fewer.
struct ComparedSums {
    DecoderSums own;
    DecoderSums vanilla;
};

/// Whether a file is what ComparisonReport::csv() makes. Errors: Io, NotFound.
engine::Result<bool> isComparisonCsv(const std::filesystem::path& path);

/// Collects results by task and over all, and shows them. Thread: one.
class ComparisonReport {
public:
    /// `vanilla` is the index of the variant that the others are compared with.
    ComparisonReport(std::vector<Variant> variants, std::size_t vanilla);

    void add(const std::string& task, const PromptOutcomes& outcomes);

    /// Tells and counts a prompt that no decoder can take. Errors: any other error.
    engine::Result<void>
    leaveOut(const Console& console, const DataPrompt& prompt, const engine::Error& error);

    /// The decoder is dropped from here on; its earlier results stay counted.
    void addFailure(std::size_t decoder, const std::string& sentence);

    int prompts() const { return m_all[m_vanilla].own.prompts; }

    /// One JSON object of a prompt and a decoder.
    nlohmann::ordered_json
    promptLine(const DataPrompt& prompt, std::size_t decoder, const PromptOutcome& outcome) const;

    /// The "done" line.
    nlohmann::ordered_json doneLine(const DataSummary& data, bool isIncomplete) const;

    /// The same as a table, for each task (when there are several) and over all.
    std::string table(const DataSummary& data, bool isIncomplete) const;

    /// The same as comma-separated values (RFC 4180): a line of names, then one line for each
    /// task and decoder, then one for each decoder over all.
    std::string csv() const;

private:
    using Sums = std::vector<ComparedSums>; // [decoders]

    nlohmann::ordered_json sumsJson(const Sums& sums) const;
    std::string csvLines(const std::string& scope, const std::string& task, const Sums& sums) const;
    std::string rows(const std::string& task, const Sums& sums) const;
    std::string equationTable() const;
    std::string qualityTable() const;

    std::vector<Variant> m_variants;
    std::size_t m_vanilla;
    Sums m_all;
    std::map<std::string, Sums> m_byTask;
    std::map<std::size_t, std::string> m_failures; // decoder to sentence
    int m_leftOut = 0;
};

} // namespace app
