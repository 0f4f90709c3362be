// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/shards/shard_log.h"

#include "engine/model/skip_sets/skip_set.h"

#include <chrono>

namespace app {

using namespace engine;

namespace {

/// Others install a set first and score it later.
bool isScored(const PlanChange& change) {
    return change.reason == "better" || change.reason == "larger r";
}

} // namespace

void ShardLog::beginAnswer(
    const std::string& variant, const std::string& task, int prompt, int pass, bool rounds) {
    if (m_variant != variant || m_task != task || m_pass != pass)
        m_matchness = m_ratio = 0.0;
    m_variant = variant;
    m_task = task;
    m_prompt = prompt;
    m_pass = pass;
    m_keepsRounds = rounds;
}

double ShardLog::now() const {
    return m_before + std::chrono::duration<double>(ForwardClock::now() - m_start).count();
}

void ShardLog::add(const DecodeStep& step) {
    add(step.search);
    if (!m_keepsRounds)
        return;
    DecodeMetrics one;
    one.add(step, step.draftMs + step.verifyMs + step.search.searchMs);
    ShardRound round;
    round.variant = m_variant;
    round.prompt = m_prompt;
    round.pass = m_pass;
    round.at = now();
    for (const TokenId id : step.tokens)
        round.tokens.push_back(readableToken(m_words, id));
    for (const TokenFact& fact : step.facts)
        round.ranks.push_back(fact.rank + 1);
    round.draftSteps = static_cast<int>(one.draftSteps);
    round.draftLayers = one.draftLayers;
    round.accepted = static_cast<int>(one.accepted);
    round.matchness = m_matchness;
    round.draftMs = step.draftMs;
    round.verifyMs = step.verifyMs;
    round.searchMs = step.search.searchMs;
    add(ShardRecord(std::move(round)));
}

/// What is searched beside the drafts, for others to use, is left out.
void ShardLog::add(const SearchReport& report) {
    for (const TrialRecord& trial : report.trials)
        if (!trial.isBeside)
            add(trial);
    for (const PlanChange& change : report.planChanges) {
        if (change.isBeside)
            continue;
        const SkipSet set = skipSetOf(change.plan);
        m_ratio = change.skipRatio;
        ShardPlan plan;
        plan.variant = m_variant;
        plan.task = m_task;
        plan.prompt = m_prompt;
        plan.attention = set.attention;
        plan.mlp = set.mlp;
        plan.ratio = change.skipRatio;
        plan.score = isScored(change) ? m_matchness : 0.0;
        plan.reason = change.reason;
        plan.at = now();
        add(ShardRecord(std::move(plan)));
    }
}

void ShardLog::add(const TrialRecord& trial) {
    if (trial.isBest)
        m_matchness = trial.score;
    ShardTrial made;
    made.variant = m_variant;
    made.task = m_task;
    made.prompt = m_prompt;
    made.index = trial.index;
    made.kind = trial.kind;
    made.score = trial.score;
    made.best = trial.best;
    made.isBest = trial.isBest;
    made.ratio = m_ratio;
    made.at = now();
    add(ShardRecord(std::move(made)));
}

void ShardLog::add(ShardRecord record) {
    if (m_failure)
        return;
    if (auto written = m_journal.add(record); !written)
        m_failure = std::move(written).error();
    else
        addRecord(m_result, std::move(record));
}

void ShardLog::drop(const std::string& variant, const std::string& reason) {
    m_result.failures.emplace(variant, reason);
}

Result<void> ShardLog::check() const {
    if (m_failure)
        return *m_failure;
    return {};
}

Result<ShardResult> ShardLog::finish() {
    ENGINE_TRY_DO(check());
    m_result.seconds = now();
    return std::move(m_result);
}

} // namespace app
