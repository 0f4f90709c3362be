// SPDX-License-Identifier: Apache-2.0
#include "app/commands/stream/stream_report.h"

#include "app/data/kept_drafts.h"
#include "app/streams/counted.h"
#include "engine/loading/files/readable_text.h"

#include <fmt/format.h>

namespace app {

using namespace engine;

namespace {

using Json = nlohmann::ordered_json;

Json orNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::string orDash(const std::optional<double>& value, int digits) {
    return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

double tokensPerSecond(const StreamSums& sums) {
    return sums.decodeMs > 0.0 ? static_cast<double>(sums.tokens) / sums.decodeMs * 1e3 : 0.0;
}

std::string row(const std::string& task, const StreamSums& sums) {
    const auto speedup = sums.decoding.speedup();
    return fmt::format(
        "{:<24} {:>7} {:>7} {:>8.1f} {:>8} {:>6} {:>20} {:>7} {:>9} {:>5} {:>7.1f}\n",
        task,
        sums.prompts,
        sums.tokens,
        tokensPerSecond(sums),
        speedup ? fmt::format("{:.2f}x", *speedup) : "-",
        orDash(sums.decoding.tokensPerRound(), 2),
        keptDrafts(sums.decoding),
        sums.trials,
        orDash(sums.matchness, 3),
        orDash(sums.ratio, 2),
        sums.decodeMs > 0.0 ? sums.decoding.searchMs / sums.decodeMs * 100.0 : 0.0);
}

} // namespace

void StreamSums::add(const PromptFinished& answer) {
    tokens += static_cast<long>(answer.tokens.size());
    promptMs += answer.generation.promptMs;
    decodeMs += answer.generation.decodeMs;
    decoding.add(answer.decoding);
}

Json StreamSums::json() const {
    return {{"prompts", prompts},
            {"tokens", tokens},
            {"tokens_per_second", tokensPerSecond(*this)},
            {"speedup", orNull(decoding.speedup())},
            {"M", orNull(decoding.tokensPerRound())},
            {"acceptance", orNull(decoding.acceptance())},
            {"tokens_per_layer", orNull(decoding.tokensPerLayer())},
            {"draft_steps", decoding.draftSteps},
            {"accepted", decoding.accepted},
            {"trials", trials},
            {"matchness", orNull(matchness)},
            {"r", orNull(ratio)},
            {"prompt_ms", promptMs},
            {"decode_ms", decodeMs},
            {"draft_ms", decoding.draftMs},
            {"verify_ms", decoding.verifyMs},
            {"search_ms", decoding.searchMs},
            {"baseline_tokens", decoding.baselineTokens},
            {"baseline_ms", decoding.baselineMs}};
}

void StreamReport::beginPrompt(const DataPrompt& prompt) {
    m_prompt = prompt;
    m_current = StreamSums();
}

void StreamReport::add(const PromptFinished& answer) {
    m_current.add(answer);
    m_all.add(answer);
    m_byTask[m_prompt.record.task].add(answer);
}

void StreamReport::add(const TrialFinished& trial) {
    for (StreamSums* sums : {&m_current, &m_all, &m_byTask[m_prompt.record.task]}) {
        sums->trials += trial.counts ? 1 : 0;
        sums->matchness = trial.best;
    }
}

void StreamReport::add(const PlanChanged& change) {
    for (StreamSums* sums : {&m_current, &m_all, &m_byTask[m_prompt.record.task]})
        sums->ratio = change.skipRatio;
}

Json StreamReport::endPrompt() {
    for (StreamSums* sums : {&m_current, &m_all, &m_byTask[m_prompt.record.task]})
        ++sums->prompts;
    // The earlier results of the search stay valid.
    m_current.matchness = m_byTask[m_prompt.record.task].matchness;
    m_current.ratio = m_byTask[m_prompt.record.task].ratio;
    Json line = {{"event", "prompt"},
                 {"data", m_prompt.file},
                 {"line", m_prompt.record.line},
                 {"id", m_prompt.record.id},
                 {"task", m_prompt.record.task}};
    line.update(m_current.json());
    line.erase("prompts");
    return line;
}

Json StreamReport::doneLine(const DataSummary& data, bool isIncomplete) const {
    Json tasks = Json::object();
    for (const auto& [task, sums] : m_byTask)
        tasks[task] = sums.json();
    return {{"event", "done"},
            {"prompts", prompts()},
            {"bad_lines", data.badLines},
            {"left_out", m_leftOut},
            {"incomplete", isIncomplete},
            {"all", m_all.json()},
            {"tasks", std::move(tasks)}};
}

std::string StreamReport::table(const DataSummary& data, bool isIncomplete) const {
    std::string text =
        fmt::format("{:<24} {:>7} {:>7} {:>8} {:>8} {:>6} {:>20} {:>7} {:>9} {:>5} {:>7}\n",
                    "task",
                    "prompts",
                    "tokens",
                    "tokens/s",
                    "speedup",
                    "M",
                    "accepted/drafted",
                    "trials",
                    "matchness",
                    "r",
                    "search%");
    for (const auto& [task, sums] : m_byTask)
        text += row(readable(task), sums);
    if (m_byTask.size() > 1)
        text += row("all", m_all);
    text += fmt::format("{} of {}; {} and {} were skipped.{}\n",
                        prompts(),
                        counted(data.prompts, "prompt"),
                        counted(data.badLines, "bad line"),
                        counted(m_leftOut, "prompt"),
                        isIncomplete ? " INCOMPLETE: the run was stopped." : "");
    return text;
}

} // namespace app
