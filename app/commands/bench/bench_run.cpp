// SPDX-License-Identifier: Apache-2.0
#include "app/commands/bench/bench_run.h"

#include "app/commands/options/text_options.h"
#include "engine/decoding/answer/generation.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace app {

using namespace engine;
using Json = nlohmann::ordered_json;

namespace {

Json decodeJson(const std::string& who, const DecodeSample& sample) {
    return {{"decoder", who},
            {"tokens", sample.tokens.size()},
            {"ms", sample.time.ms},
            {"tokens_per_s", sample.tokensPerSecond()},
            {"roof_gbps", sample.time.roofGbps}};
}

} // namespace

std::optional<std::size_t> firstDifference(const DecodeSample& one, const DecodeSample& other) {
    const std::size_t common = std::min(one.tokens.size(), other.tokens.size());
    for (std::size_t i = 0; i < common; ++i)
        if (one.tokens[i] != other.tokens[i])
            return i;
    return std::nullopt;
}

BenchRun::BenchRun(const BenchOptions& options,
                   const Console& console,
                   BenchParts& parts,
                   BenchResults& results)
    : m_options(options)
    , m_console(console)
    , m_parts(parts)
    , m_results(results)
    , m_fullPlan(LayerPlan::full(parts.model.loaded.config.layerCount)) {
    addPassTasks();
}

void BenchRun::addPassTasks() {
    for (const int rows : m_options.rows)
        m_passTasks.emplace_back([this, rows] { return timeRows(rows); });
    for (std::size_t i = 0; i < m_parts.plans.size(); ++i)
        m_passTasks.emplace_back([this, i] { return timePlan(i); });
    m_passTasks.emplace_back([this] { return timePrefill(); });
}

Result<void> BenchRun::run() {
    const int prompts = static_cast<int>(m_parts.model.prompts.size());
    const int repetitions =
        m_options.data.paths.empty() ? m_options.pairs : std::max(m_options.pairs, prompts);
    for (int i = 0; i < repetitions; ++i) {
        m_status.show(fmt::format("repetition {} of {}", i + 1, repetitions));
        if (auto repeated = repeat(i); !repeated)
            return repeated;
    }
    return {};
}

Result<void> BenchRun::repeat(int repetition) {
    m_repetition = repetition;
    const auto& prompts = m_parts.model.prompts;
    const BenchPrompt& prompt = prompts[static_cast<std::size_t>(repetition) % prompts.size()];
    std::vector<Task> tasks;
    if (repetition < m_options.pairs)
        tasks = m_passTasks;
    tasks.emplace_back([this, &prompt] { return timeDecoding(prompt); });
    return inTurn(tasks);
}

Result<void> BenchRun::inTurn(const std::vector<Task>& tasks) const {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        ENGINE_TRY_DO(checkStop());
        ENGINE_TRY_DO(tasks[m_repetition % 2 == 0 ? i : tasks.size() - 1 - i]());
    }
    return {};
}

Result<void> BenchRun::checkStop() const {
    if (m_parts.stop.stop_requested())
        return cancelledError();
    return {};
}

/// The pass and the full one-row pass, one directly after the other.
Result<PassPair> BenchRun::timePair(const LayerPlan& plan, int rows) {
    PassPair pair;
    ENGINE_TRY_DO(inTurn({[&]() -> Result<void> {
                              ENGINE_TRY(pair.oneRow, m_parts.roof.take([this] {
                                  return m_parts.clock.passMs(m_fullPlan, 1);
                              }));
                              return {};
                          },
                          [&]() -> Result<void> {
                              ENGINE_TRY(pair.own, m_parts.roof.take([&] {
                                  return m_parts.clock.passMs(plan, rows);
                              }));
                              return {};
                          }}));
    return pair;
}

Result<void> BenchRun::timeRows(int rows) {
    ENGINE_TRY(const PassPair pair, timePair(m_fullPlan, rows));
    m_results.byRows[rows].push_back(pair);
    m_console.jsonLine({{"event", "sample"},
                        {"repetition", m_repetition},
                        {"quantity", "rows"},
                        {"rows", rows},
                        {"ms", pair.own.ms},
                        {"one_row_ms", pair.oneRow.ms},
                        {"roof_gbps", pair.own.roofGbps}});
    return {};
}

Result<void> BenchRun::timePlan(std::size_t index) {
    ENGINE_TRY(const PassPair pair, timePair(m_parts.plans[index].plan, 1));
    m_results.skipSets[index].pairs.push_back(pair);
    m_console.jsonLine({{"event", "sample"},
                        {"repetition", m_repetition},
                        {"quantity", "skip_set"},
                        {"name", m_parts.plans[index].name},
                        {"ms", pair.own.ms},
                        {"one_row_ms", pair.oneRow.ms},
                        {"roof_gbps", pair.own.roofGbps}});
    return {};
}

Result<void> BenchRun::timePrefill() {
    TimedSample own;
    ForRivals<std::optional<TimedSample>> rivals;
    std::vector<Task> tasks = {[&]() -> Result<void> {
        ENGINE_TRY(own, m_parts.roof.take([this] { return m_parts.clock.prefillMs(); }));
        return {};
    }};
    for (std::size_t i = 0; i < kRivals.size(); ++i)
        if (m_parts.rivals[i] != nullptr)
            tasks.emplace_back([&, i]() -> Result<void> {
                ENGINE_TRY(rivals[i], m_parts.roof.take([&] {
                    return m_parts.rivals[i]->prefillMs(m_parts.clock.prefillIds());
                }));
                return {};
            });
    ENGINE_TRY_DO(inTurn(tasks));
    m_results.prefill.push_back(own);
    Json line = {{"event", "sample"},
                 {"repetition", m_repetition},
                 {"quantity", "prefill"},
                 {"tokens", m_parts.clock.prefillIds().size()},
                 {"ms", own.ms},
                 {"roof_gbps", own.roofGbps}};
    for (std::size_t i = 0; i < kRivals.size(); ++i) {
        line[fmt::format("{}_ms", kRivals[i].key)] = rivals[i] ? Json(rivals[i]->ms) : Json();
        if (rivals[i])
            m_results.rivalPrefill[i].push_back(*rivals[i]);
    }
    m_console.jsonLine(line);
    return {};
}

Result<DecodeSample> BenchRun::decode(Decoder& decoder, const BenchPrompt& prompt) {
    GenerationRequest request;
    request.prompt = prompt.ids;
    request.task = prompt.task;
    request.limits = {.maxTokens = m_options.maxTokens, .endIds = m_parts.model.endIds};
    request.stop = m_parts.stop;
    DecodeSample sample;
    const auto answer = [&]() -> Result<double> {
        ENGINE_TRY(GenerationResult result, generate(decoder, request));
        if (result.reason == FinishReason::Cancelled)
            return cancelledError();
        sample.tokens = std::move(result.tokens);
        return result.metrics.decodeMs;
    };
    ENGINE_TRY(sample.time, m_parts.roof.take(answer));
    return sample;
}

Result<DecodeSample> BenchRun::decodeBy(RivalProcess& rival, const BenchPrompt& prompt) {
    const int room = m_parts.model.contextLength - static_cast<int>(prompt.ids.size());
    DecodeSample sample;
    const auto answerIt = [&]() -> Result<double> {
        ENGINE_TRY(
            RivalAnswer answer,
            rival.decode(prompt.ids, m_parts.model.endIds, std::min(room, m_options.maxTokens)));
        if (answer.tokens.empty())
            return Error{ErrorCode::Io, "The other program made no token.", ""};
        sample.tokens = std::move(answer.tokens);
        return answer.decodeMs;
    };
    ENGINE_TRY(sample.time, m_parts.roof.take(answerIt));
    return sample;
}

Result<void> BenchRun::timeDecoding(const BenchPrompt& prompt) {
    DecodePair pair;
    pair.task = prompt.task;
    const auto by = [&](auto& into, auto&& answer) -> Task {
        return [&into, answer]() -> Result<void> {
            ENGINE_TRY(into, answer());
            return {};
        };
    };
    std::vector<Task> tasks = {by(pair.vanilla, [&] { return decode(*m_parts.vanilla, prompt); })};
    if (m_parts.drafting)
        tasks.push_back(by(pair.drafted, [&] { return decode(*m_parts.drafting, prompt); }));
    for (std::size_t i = 0; i < kRivals.size(); ++i)
        if (m_parts.rivals[i] != nullptr)
            tasks.push_back(
                by(pair.rivals[i], [&, i] { return decodeBy(*m_parts.rivals[i], prompt); }));
    ENGINE_TRY_DO(inTurn(tasks));
    Json line = {{"event", "sample"},
                 {"repetition", m_repetition},
                 {"quantity", "decode"},
                 {"task", pair.task},
                 {"answers", {decodeJson("vanilla", pair.vanilla)}}};
    if (pair.drafted)
        line["answers"].push_back(decodeJson(m_results.facts.decoder, *pair.drafted));
    for (std::size_t i = 0; i < kRivals.size(); ++i)
        if (pair.rivals[i])
            line["answers"].push_back(decodeJson(kRivals[i].name, *pair.rivals[i]));
    m_console.jsonLine(line);
    m_results.decode.push_back(std::move(pair));
    return {};
}

} // namespace app
