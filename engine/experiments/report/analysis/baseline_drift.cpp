// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/analysis/analyse.h"
#include "engine/experiments/report/analysis/run_data.h"
#include "engine/metrics/sample_statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace engine {

namespace {

constexpr std::size_t kFewestForThirds = 6;

/// The second pass's time for a token over the first one's; none if one of them is missing.
std::optional<double> ratioOfPasses(const AnsweredPrompt& run) {
    std::vector<const ShardAnswer*> passes[2];
    for (const ShardAnswer* answer : run.own) {
        if (answer->pass == 0 || answer->pass == 1)
            passes[answer->pass].push_back(answer);
    }
    const double first = msPerToken(passes[0]);
    const double second = msPerToken(passes[1]);
    return first > 0.0 && second > 0.0 ? std::optional(second / first) : std::nullopt;
}

void keepLarger(std::optional<double>& largest, double moved) {
    if (!largest || std::abs(moved) > std::abs(*largest))
        largest = moved;
}

} // namespace

bool BaselineDrift::isSteady() const {
    return !betweenPasses || std::abs(*betweenPasses) <= kBaselineLimit;
}

void RunData::measureDrift() {
    std::vector<double> ratios;
    std::map<std::string, std::vector<double>> ratiosOfTask;
    // By host and task: (when the shard began, seconds since then, milliseconds for a token).
    using Timed = std::tuple<std::string, double, double>;
    std::map<std::pair<std::string, std::string>, std::vector<Timed>> times;
    std::map<int, const ShardResult*> shards;
    for (const ShardResult& shard : m_shards)
        shards[shard.shard] = &shard;
    for (const AnsweredPrompt& run : m_runs) {
        if (!run.place.variant->isVanilla)
            continue;
        if (const auto ratio = ratioOfPasses(run)) {
            ratios.push_back(*ratio);
            ratiosOfTask[run.place.task].push_back(*ratio);
        }
        const ShardResult& shard = *shards[run.place.shard->index];
        if (const double ms = msPerToken(run.own); ms > 0.0)
            times[{shard.machine.host, run.place.task}].emplace_back(
                shard.startedUtc, run.place.at, ms);
    }
    if (!ratios.empty())
        m_drift.betweenPasses = medianOf(ratios) - 1.0;
    for (const auto& [task, own] : ratiosOfTask) {
        const double moved = medianOf(own) - 1.0;
        if (!m_drift.worstTask || std::abs(moved) > std::abs(*m_drift.worstTask)) {
            m_drift.worstTask = moved;
            m_drift.worstTaskName = task;
        }
    }
    for (auto& [place, own] : times) {
        if (own.size() < kFewestForThirds)
            continue;
        std::sort(own.begin(), own.end());
        std::vector<double> ms;
        for (const Timed& time : own)
            ms.push_back(std::get<2>(time));
        const std::span<const double> all(ms);
        const std::size_t third = all.size() / 3;
        keepLarger(m_drift.overRun, medianOf(all.last(third)) / medianOf(all.first(third)) - 1.0);
    }
}

} // namespace engine
