// SPDX-License-Identifier: Apache-2.0
#include "app/commands/compare/comparison_report.h"

#include "app/commands/compare/expected_speed.h"
#include "app/data/kept_drafts.h"
#include "app/streams/counted.h"

#include <algorithm>

namespace app {

using namespace engine;

namespace {

using Json = nlohmann::ordered_json;

double quotient(double a, double b) { return b > 0.0 ? a / b : 0.0; }

/// Null where nothing was measured.
Json speedupJson(double rate, double vanilla) {
    return vanilla > 0.0 ? Json(rate / vanilla) : Json();
}

std::string speedupText(double rate, double vanilla) {
    return vanilla > 0.0 ? fmt::format("{:.2f}x", rate / vanilla) : "-";
}

Json differenceJson(const Difference& difference) {
    return {{"half", difference.isInReverseHalf ? "reverse" : "forward"},
            {"turn", difference.turn},
            {"position", difference.position},
            {"margin", difference.margin ? Json(*difference.margin) : Json(nullptr)}};
}

Json settingsJson(const SettingValues& settings) {
    Json json = Json::object();
    for (const auto& [name, value] : settings)
        std::visit([&, &key = name](const auto& typed) { json[key] = typed; }, value);
    return json;
}

using Scores = decltype(AnswerQuality::scores);

Scores meansOf(const DecoderSums& sums) {
    Scores means;
    for (std::size_t i = 0; i < means.size(); ++i)
        means.at(i) = sums.quality.at(i).mean();
    return means;
}

/// Only what was scored; null if nothing was.
Json scoresJson(const Scores& scores) {
    Json json;
    for (std::size_t i = 0; i < scores.size(); ++i)
        if (scores.at(i))
            json[AnswerQuality::kNames.at(i)] = *scores.at(i);
    return json;
}

/// Cut to the column's width at a whole character.
std::string cut(const std::string& text, std::size_t width) {
    std::size_t end = 0;
    std::size_t count = 0;
    for (; end < text.size() && (count < width || (text[end] & 0xC0) == 0x80); ++end)
        count += (text[end] & 0xC0) != 0x80 ? 1U : 0U;
    return text.substr(0, end);
}

} // namespace

void DecoderSums::add(const PromptOutcome& outcome) {
    ++prompts;
    equal += outcome.isEqual() ? 1 : 0;
    nearTies += outcome.isNearTie() ? 1 : 0;
    tally.add(outcome.tally);
    promptSeconds += outcome.promptSeconds();
    decodeSeconds += outcome.decodeSeconds();
    rateSum += outcome.tokensPerSecond();
    layerSum += outcome.tally.tokensPerLayer();
    for (const AnswerQuality& answer : outcome.quality)
        for (std::size_t i = 0; i < quality.size(); ++i)
            if (answer.scores.at(i)) {
                quality.at(i).sum += *answer.scores.at(i);
                ++quality.at(i).answers;
            }
}

double DecoderSums::tokensPerSecond() const {
    return quotient(static_cast<double>(tally.tokens()), decodeSeconds);
}

double DecoderSums::tokensPerSecondWithPrompt() const {
    return quotient(static_cast<double>(tally.tokens()), promptSeconds + decodeSeconds);
}

double DecoderSums::meanTokensPerSecond() const { return quotient(rateSum, prompts); }

double DecoderSums::meanTokensPerLayer() const { return quotient(layerSum, prompts); }

double DecoderSums::otherMs() const {
    const double named = tally.metrics.draftMs + tally.verifyMs() + tally.metrics.searchMs;
    return std::max(0.0, decodeSeconds * 1e3 - named);
}

double DecoderSums::perToken(double ms) const {
    return quotient(ms, static_cast<double>(tally.tokens()));
}

ComparisonReport::ComparisonReport(std::vector<Variant> variants, std::size_t vanilla)
    : m_variants(std::move(variants))
    , m_vanilla(vanilla)
    , m_all(m_variants.size()) {}

void ComparisonReport::add(const std::string& task, const PromptOutcomes& outcomes) {
    Sums& sums = m_byTask.try_emplace(task, Sums(m_variants.size())).first->second;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (!outcomes[i])
            continue;
        for (ComparedSums* each : {&sums[i], &m_all[i]}) {
            each->own.add(*outcomes[i]);
            each->vanilla.add(*outcomes[m_vanilla]);
        }
    }
}

Result<void>
ComparisonReport::leaveOut(const Console& console, const DataPrompt& prompt, const Error& error) {
    if (error.code != ErrorCode::InvalidInput)
        return error;
    ++m_leftOut;
    Console::note(
        fmt::format("{}: line {} was skipped: {}", prompt.file, prompt.record.line, error.message));
    console.jsonLine({{"event", "left_out"},
                      {"data", prompt.file},
                      {"line", prompt.record.line},
                      {"message", error.message}});
    return {};
}

void ComparisonReport::addFailure(std::size_t decoder, const std::string& sentence) {
    m_failures.emplace(decoder, sentence);
}

Json ComparisonReport::promptLine(const DataPrompt& prompt,
                                  std::size_t decoder,
                                  const PromptOutcome& outcome) const {
    Json line = {{"event", "prompt"},
                 {"data", prompt.file},
                 {"line", prompt.record.line},
                 {"id", prompt.record.id},
                 {"task", prompt.record.task},
                 {"variant", m_variants[decoder].name},
                 {"decoder", m_variants[decoder].decoder},
                 {"prompt_tokens", outcome.promptTokens},
                 {"output_tokens", outcome.tally.tokens()},
                 {"steps", outcome.tally.steps},
                 {"tokens_per_second", outcome.tokensPerSecond()},
                 {"prompt_ms", outcome.promptMs},
                 {"decode_ms", outcome.decodeMs}};
    line.update(outcome.tally.json());
    line["equal"] = outcome.isEqual();
    line["near_tie"] = outcome.isNearTie();
    line["differences"] = Json::array();
    for (const Difference& difference : outcome.differences)
        line["differences"].push_back(differenceJson(difference));
    line["quality"] = Json::array();
    for (const AnswerQuality& answer : outcome.quality)
        line["quality"].push_back(scoresJson(answer.scores));
    return line;
}

Json ComparisonReport::sumsJson(const Sums& sums) const {
    Json all = Json::object();
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto& [own, vanilla] = sums[i];
        Json line = {
            {"decoder", m_variants[i].decoder},
            {"settings", settingsJson(m_variants[i].settings)},
            {"prompts", own.prompts},
            {"equal", own.equal},
            {"near_ties", own.nearTies},
            {"tokens", own.tally.tokens()},
            {"steps", own.tally.steps},
            {"tokens_per_second", own.tokensPerSecond()},
            {"speedup", speedupJson(own.tokensPerSecond(), vanilla.tokensPerSecond())},
            {"speedup_with_prompt",
             speedupJson(own.tokensPerSecondWithPrompt(), vanilla.tokensPerSecondWithPrompt())},
            {"mean_tokens_per_second", own.meanTokensPerSecond()},
            {"speedup_of_means",
             speedupJson(own.meanTokensPerSecond(), vanilla.meanTokensPerSecond())},
            {"prompt_ms", own.promptSeconds * 1e3},
            {"decode_ms", own.decodeSeconds * 1e3}};
        line.update(own.tally.json());
        line["mean_tokens_per_layer"] = own.meanTokensPerLayer();
        line["other_ms"] = own.otherMs();
        line["ms_per_token"] = {{"draft", own.perToken(own.tally.metrics.draftMs)},
                                {"verify", own.perToken(own.tally.verifyMs())},
                                {"search", own.perToken(own.tally.metrics.searchMs)},
                                {"other", own.perToken(own.otherMs())}};
        line["equation_6"] = ExpectedSpeed(own, vanilla, m_variants[i].lockedLayers).json();
        line["quality"] = scoresJson(meansOf(own));
        const auto failure = m_failures.find(i);
        line["failure"] = failure == m_failures.end() ? Json() : Json(failure->second);
        all[m_variants[i].name] = std::move(line);
    }
    return all;
}

Json ComparisonReport::doneLine(const DataSummary& data, bool isIncomplete) const {
    Json tasks = Json::object();
    for (const auto& [task, sums] : m_byTask)
        tasks[task] = sumsJson(sums);
    return {{"event", "done"},
            {"prompts", prompts()},
            {"bad_lines", data.badLines},
            {"left_out", m_leftOut},
            {"incomplete", isIncomplete},
            {"decoders", sumsJson(m_all)},
            {"tasks", std::move(tasks)}};
}

std::string ComparisonReport::rows(const std::string& task, const Sums& sums) const {
    std::string text;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto& [own, vanilla] = sums[i];
        text += fmt::format(
            "{:<22} {:<13} {:>7} {:>6} {:>9} {:>7} {:>8.1f} {:>8} {:>8} {:>8} {:>6.2f} "
            "{:>20} {:>7.4f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f}\n",
            i == 0 ? cut(task, 22) : "",
            cut(m_variants[i].name, 13),
            own.prompts,
            own.equal,
            own.nearTies,
            own.tally.tokens(),
            own.tokensPerSecond(),
            speedupText(own.tokensPerSecond(), vanilla.tokensPerSecond()),
            speedupText(own.tokensPerSecondWithPrompt(), vanilla.tokensPerSecondWithPrompt()),
            speedupText(own.meanTokensPerSecond(), vanilla.meanTokensPerSecond()),
            own.tally.tokensPerRound(),
            keptDrafts(own.tally.metrics),
            own.meanTokensPerLayer(),
            own.perToken(own.tally.metrics.draftMs),
            own.perToken(own.tally.verifyMs()),
            own.perToken(own.tally.metrics.searchMs),
            own.perToken(own.otherMs()));
    }
    return text;
}

/// Equation 6 of SWIFT's paper beside each measured speedup, for variants that draft with passes.
std::string ComparisonReport::equationTable() const {
    std::string text;
    bool isOneWithoutRatio = false;
    const auto add = [&](const std::string& task, const Sums& sums) {
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const auto& [own, vanilla] = sums[i];
            const ExpectedSpeed expected(own, vanilla, m_variants[i].lockedLayers);
            const std::string words = expected.sentence();
            if (words.empty())
                continue;
            text += fmt::format(
                "{:<22} {:<13} {}\n", cut(task, 22), cut(m_variants[i].name, 13), words);
            isOneWithoutRatio = isOneWithoutRatio || !expected.byRatio;
        }
    };
    if (m_byTask.size() > 1)
        for (const auto& [task, sums] : m_byTask)
            add(task, sums);
    add(m_byTask.size() == 1 ? m_byTask.begin()->first : "all", m_all);
    if (isOneWithoutRatio)
        text += "- : r is the share of the layers that drafts leave out, and these drafts are made "
                "otherwise, or only some of them so.\n";
    return text.empty() ? text : "equation 6, M a / ((M - 1) c + a), and its error:\n" + text;
}

/// The scores of each task that has any, and whether they are vanilla's, as equal tokens make them.
std::string ComparisonReport::qualityTable() const {
    std::string text;
    for (const auto& [task, sums] : m_byTask) {
        const DecoderSums& vanilla = sums[m_vanilla].own;
        const Scores reference = meansOf(vanilla);
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const Scores own = meansOf(sums[i].own);
            const std::string_view relation = i == m_vanilla ? ""
                                              : sums[i].own.prompts < vanilla.prompts
                                                  ? "of fewer prompts than vanilla"
                                              : own == reference ? "the same as vanilla"
                                                                 : "NOT the same as vanilla";
            std::string words;
            for (std::size_t score = 0; score < own.size(); ++score)
                if (own.at(score))
                    words +=
                        fmt::format("{} {:.4f}  ", AnswerQuality::kNames.at(score), *own[score]);
            if (!words.empty())
                text += fmt::format("{:<22} {:<13} {}{}\n",
                                    cut(task, 22),
                                    cut(m_variants[i].name, 13),
                                    words,
                                    relation);
        }
    }
    return text.empty() ? text : "quality of the answers, by their references:\n" + text;
}

std::string ComparisonReport::table(const DataSummary& data, bool isIncomplete) const {
    std::string text = fmt::format(
        "{:<22} {:<13} {:>7} {:>6} {:>9} {:>7} {:>8} {:>8} {:>8} {:>8} {:>6} {:>20} {:>7} {:>9} "
        "{:>9} {:>9} {:>9}\n",
        "task",
        "decoder",
        "prompts",
        "equal",
        "near ties",
        "tokens",
        "tokens/s",
        "speedup",
        "+prompt",
        "of means",
        "M",
        "accepted/drafted",
        "eTPL",
        "draft ms",
        "verify ms",
        "search ms",
        "other ms");
    if (m_byTask.size() > 1)
        for (const auto& [task, sums] : m_byTask)
            text += rows(task, sums);
    text += rows(m_byTask.size() == 1 ? m_byTask.begin()->first : "all", m_all);
    text +=
        fmt::format("{} of {}, both halves; times are ms per token; {} and {} were skipped.{}\n",
                    prompts(),
                    counted(data.prompts, "prompt"),
                    counted(data.badLines, "bad line"),
                    counted(m_leftOut, "prompt"),
                    isIncomplete ? " INCOMPLETE: the run was stopped." : "");
    text += equationTable() + qualityTable();
    for (const Variant& variant : m_variants)
        if (variant.name != variant.decoder)
            text += variant.inWords() + "\n";
    for (const auto& [decoder, sentence] : m_failures)
        text += fmt::format("{} was dropped after {}: {}\n",
                            m_variants[decoder].name,
                            counted(m_all[decoder].own.prompts, "prompt"),
                            sentence);
    return text;
}

} // namespace app
