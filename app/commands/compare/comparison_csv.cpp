// SPDX-License-Identifier: Apache-2.0
#include "app/commands/compare/expected_speed.h"
#include "engine/experiments/report/writers/escaped_text.h"
#include "engine/loading/files/byte_reader.h"

#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <span>

// Writes a comparison as a file for spreadsheets.

namespace app {

using namespace engine;

namespace {

constexpr std::array kNames = {"scope",
                               "task",
                               "variant",
                               "decoder",
                               "prompts",
                               "equal",
                               "near_ties",
                               "tokens",
                               "steps",
                               "tokens_per_second",
                               "speedup",
                               "speedup_with_prompt",
                               "mean_tokens_per_second",
                               "speedup_of_means",
                               "M",
                               "acceptance",
                               "tokens_per_layer",
                               "mean_tokens_per_layer",
                               "draft_ms_per_token",
                               "verify_ms_per_token",
                               "search_ms_per_token",
                               "other_ms_per_token",
                               "c_by_ratio",
                               "expected_by_ratio",
                               "error_by_ratio",
                               "c_measured",
                               "expected_by_cost",
                               "error_by_cost",
                               "rouge1",
                               "rouge2",
                               "rougeL",
                               "exact_match",
                               "pass_at_1"};

std::string headLine() { return fmt::format("{}\r\n", fmt::join(kNames, ",")); }

/// All digits; empty where nothing was measured.
std::string ratioCell(double a, double b) {
    const double value = b > 0.0 ? a / b : std::nan("");
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

/// Empty where nothing was drafted with passes.
std::string equationCell(const std::optional<EquationSix>& found, double EquationSix::*figure) {
    return found ? fmt::to_string((*found).*figure) : std::string();
}

/// Empty where nothing was scored.
std::string scoreCell(const DecoderSums& sums, std::size_t score) {
    const auto mean = sums.quality.at(score).mean();
    return mean ? fmt::format("{}", *mean) : std::string();
}

} // namespace

std::string ComparisonReport::csvLines(const std::string& scope,
                                       const std::string& task,
                                       const Sums& sums) const {
    std::string text;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto& [own, vanilla] = sums[i];
        const DecodeMetrics& metrics = own.tally.metrics;
        const ExpectedSpeed six(own, vanilla, m_variants[i].lockedLayers);
        const std::array<std::string, kNames.size()> cells = {
            scope,
            csvField(task),
            csvField(m_variants[i].name),
            csvField(m_variants[i].decoder),
            fmt::to_string(own.prompts),
            fmt::to_string(own.equal),
            fmt::to_string(own.nearTies),
            fmt::to_string(own.tally.tokens()),
            fmt::to_string(own.tally.steps),
            fmt::to_string(own.tokensPerSecond()),
            ratioCell(own.tokensPerSecond(), vanilla.tokensPerSecond()),
            ratioCell(own.tokensPerSecondWithPrompt(), vanilla.tokensPerSecondWithPrompt()),
            fmt::to_string(own.meanTokensPerSecond()),
            ratioCell(own.meanTokensPerSecond(), vanilla.meanTokensPerSecond()),
            fmt::to_string(own.tally.tokensPerRound()),
            ratioCell(static_cast<double>(metrics.accepted),
                      static_cast<double>(metrics.draftSteps)),
            fmt::to_string(own.tally.tokensPerLayer()),
            fmt::to_string(own.meanTokensPerLayer()),
            fmt::to_string(own.perToken(metrics.draftMs)),
            fmt::to_string(own.perToken(own.tally.verifyMs())),
            fmt::to_string(own.perToken(metrics.searchMs)),
            fmt::to_string(own.perToken(own.otherMs())),
            equationCell(six.byRatio, &EquationSix::draftCost),
            equationCell(six.byRatio, &EquationSix::expected),
            equationCell(six.byRatio, &EquationSix::error),
            equationCell(six.byCost, &EquationSix::draftCost),
            equationCell(six.byCost, &EquationSix::expected),
            equationCell(six.byCost, &EquationSix::error),
            scoreCell(own, 0),
            scoreCell(own, 1),
            scoreCell(own, 2),
            scoreCell(own, 3),
            scoreCell(own, 4)};
        text += fmt::format("{}\r\n", fmt::join(cells, ","));
    }
    return text;
}

Result<bool> isComparisonCsv(const std::filesystem::path& path) {
    const std::string head = headLine();
    ENGINE_TRY(const ByteReader file, ByteReader::open(path));
    if (file.size() < head.size())
        return false;
    std::string start(head.size(), '\0');
    ENGINE_TRY_DO(file.readAt(0, std::as_writable_bytes(std::span(start)), "the head line"));
    return start == head;
}

std::string ComparisonReport::csv() const {
    std::string text = headLine();
    for (const auto& [task, sums] : m_byTask)
        text += csvLines("task", task, sums);
    return text + csvLines("all", "", m_all);
}

} // namespace app
