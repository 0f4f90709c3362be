// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/shards/shard_log.h"

#include "engine/model/skip_sets/skip_set.h"

#include <chrono>
#include <set>
#include <utility>

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
    m_plan = &m_plans[{variant, pass}];
    if (std::exchange(m_plan->task, task) != task)
        m_plan->matchness = 0.0;
    m_variant = variant;
    m_task = task;
    m_prompt = prompt;
    m_pass = pass;
    m_keepsRounds = rounds;
    m_drafters.clear();
    m_tokens = m_draftedUntil = 0;
    beginText();
}

void ShardLog::beginText() {
    m_text.reset();
    if (m_keepsRounds)
        m_text.emplace(m_words, true);
}

/// What a token completes of the text; nothing for an id beyond the tokenizer's.
std::string ShardLog::textOf(TokenId id) {
    auto text = m_text->push(id);
    return text ? std::move(text).value() : std::string();
}

/// As the decoder says, or else by what its draft was made of.
std::string ShardLog::drafterOf(const DecodeStep& step) const {
    if (step.isPlain())
        return "none";
    if (!step.choice.drafter.empty())
        return std::string(step.choice.drafter);
    if (step.planId == 0)
        return "free";
    return m_plan->isExit ? "exit" : "skip";
}

double ShardLog::now() const {
    return m_before + std::chrono::duration<double>(ForwardClock::now() - m_start).count();
}

void ShardLog::add(const DecodeStep& step) {
    addSearch(step.search);
    const std::string drafter = drafterOf(step);
    const auto count = static_cast<long>(step.tokens.size());
    m_drafters[drafter] += count;
    m_tokens += count;
    if (!step.isPlain())
        m_draftedUntil = m_tokens;
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
        round.tokens.push_back(textOf(id));
    for (const TokenFact& fact : step.facts)
        round.ranks.push_back(fact.rank + 1);
    round.drafter = drafter;
    round.draftSteps = static_cast<int>(one.draftSteps);
    round.draftLayers = one.draftLayers;
    round.accepted = static_cast<int>(one.accepted);
    round.matchness = m_plan->matchness;
    round.draftMs = step.draftMs;
    round.verifyMs = step.verifyMs;
    round.searchMs = step.search.searchMs;
    add(ShardRecord(std::move(round)));
}

void ShardLog::add(const SearchReport& report) {
    addSearch(report);
    beginText();
}

/// What is searched beside the drafts, for others to use, is left out.
void ShardLog::addSearch(const SearchReport& report) {
    if (!report.notes.empty())
        m_notes.emplace(m_variant, report.notes.front());
    for (const TrialRecord& trial : report.trials)
        if (!trial.isBeside)
            add(trial);
    for (const PlanChange& change : report.planChanges) {
        if (change.isBeside)
            continue;
        const SkipSet set = skipSetOf(change.plan);
        m_plan->ratio = change.skipRatio;
        m_plan->isExit = change.plan.exitAfterLayer + 1 < change.plan.layerCount();
        ShardPlan plan;
        plan.variant = m_variant;
        plan.task = m_task;
        plan.prompt = m_prompt;
        plan.attention = set.attention;
        plan.mlp = set.mlp;
        plan.ratio = change.skipRatio;
        plan.score = isScored(change) ? m_plan->matchness : 0.0;
        plan.reason = change.reason;
        plan.at = now();
        add(ShardRecord(std::move(plan)));
    }
}

void ShardLog::add(const TrialRecord& trial) {
    if (trial.isBest)
        m_plan->matchness = trial.score;
    ShardTrial made;
    made.variant = m_variant;
    made.task = m_task;
    made.prompt = m_prompt;
    made.pass = m_pass;
    made.index = trial.index;
    made.kind = trial.kind;
    made.score = trial.score;
    made.best = trial.best;
    made.isBest = trial.isBest;
    made.ratio = m_plan->ratio;
    made.at = now();
    add(ShardRecord(std::move(made)));
}

void ShardLog::add(ShardRecord record) {
    if (m_failure)
        return;
    if (auto written = m_journal.add(record); !written) {
        m_failure = std::move(written).error();
        return;
    }
    if (m_onRecord)
        m_onRecord(record);
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

/// By the answers, so that those before a stop count, too.
void ShardLog::dropIdle() {
    std::set<std::string> drafting;
    for (const ShardAnswer& answer : m_result.answers)
        if (answer.decoding.rounds > 0)
            drafting.insert(answer.variant);
    for (const auto& [variant, sentence] : m_notes)
        if (!drafting.contains(variant))
            drop(variant, sentence);
}

Result<ShardResult> ShardLog::finish() {
    ENGINE_TRY_DO(check());
    m_result.seconds = now();
    return std::move(m_result);
}

} // namespace app
