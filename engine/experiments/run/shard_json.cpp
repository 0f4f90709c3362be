// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/run/shard_json.h"

#include "engine/experiments/json/member_json.h"
#include "engine/experiments/recipe/recipe.h"
#include "engine/metrics/decode_metrics_members.h"

#include <array>

namespace engine {

// The members of every record by their names in JSON. They are not in an anonymous namespace,
// because the templates of member_json.h have to find them.

template <typename V> void visitMembers(V& visit, ShardAnswer& r) {
    visit("variant", r.variant);
    visit("prompt", r.prompt);
    visit("task", r.task);
    visit("pass", r.pass);
    visit("seed", r.seed);
    visit("tokens", r.tokens);
    visit("token_hash", r.tokenHash);
    visit("text", r.text);
    visit("prompt_ms", r.promptMs);
    visit("decode_ms", r.decodeMs);
    visit("started_at", r.startedAt);
    visit("decoding", r.decoding);
    visit("equal", r.isEqual);
    visit("differs_at", r.differsAt);
    visit("gap", r.gap);
    visit("near_tie", r.isNearTie);
    visit("draft_ratio", r.draftRatio);
    visit("quality", r.quality);
    visit("drafters", r.drafters);
    visit("drafted_until", r.draftedUntil);
}

template <typename V> void visitMembers(V& visit, ShardDraw& r) {
    visit("variant", r.variant);
    visit("prompt", r.prompt);
    visit("seed", r.seed);
    visit("tokens", r.tokens);
}

template <typename V> void visitMembers(V& visit, ShardTrial& r) {
    visit("variant", r.variant);
    visit("task", r.task);
    visit("prompt", r.prompt);
    visit("pass", r.pass);
    visit("index", r.index);
    visit("kind", r.kind);
    visit("score", r.score);
    visit("best", r.best);
    visit("is_best", r.isBest);
    visit("ratio", r.ratio);
    visit("at", r.at);
}

template <typename V> void visitMembers(V& visit, ShardPlan& r) {
    visit("variant", r.variant);
    visit("task", r.task);
    visit("prompt", r.prompt);
    visit("attention", r.attention);
    visit("mlp", r.mlp);
    visit("ratio", r.ratio);
    visit("score", r.score);
    visit("reason", r.reason);
    visit("at", r.at);
}

template <typename V> void visitMembers(V& visit, ShardRound& r) {
    visit("variant", r.variant);
    visit("prompt", r.prompt);
    visit("pass", r.pass);
    visit("at", r.at);
    visit("tokens", r.tokens);
    visit("ranks", r.ranks);
    visit("drafter", r.drafter);
    visit("draft_steps", r.draftSteps);
    visit("draft_layers", r.draftLayers);
    visit("accepted", r.accepted);
    visit("matchness", r.matchness);
    visit("draft_ms", r.draftMs);
    visit("verify_ms", r.verifyMs);
    visit("search_ms", r.searchMs);
}

template <typename V> void visitMembers(V& visit, ShardLeftOut& r) {
    visit("prompt", r.prompt);
    visit("reason", r.reason);
}

template <typename V> void visitMembers(V& visit, ShardResumed& r) {
    visit("prompt", r.prompt);
    visit("at", r.at);
}

template <typename V> void visitMembers(V& visit, MachineFacts& r) {
    visit("host", r.host);
    visit("processor", r.processor);
    visit("instruction_set", r.instructionSet);
    visit("threads", r.threads);
    visit("memory_gib", r.memoryGiB);
    visit("roof_gbs", r.roofGBs);
    visit("backend", r.backend);
    visit("weights", r.weights);
    visit("build_id", r.buildId);
}

template <typename V> void visitMembers(V& visit, ShardResult& r) {
    visit("shard", r.shard);
    visit("run_hash", r.runHash);
    visit("machine", r.machine);
    visit("started_utc", r.startedUtc);
    visit("seconds", r.seconds);
    visit("failures", r.failures);
    visit("left_out", r.leftOut);
    visit("resumed", r.resumed);
    visit("answers", r.answers);
    visit("draws", r.draws);
    visit("trials", r.trials);
    visit("plans", r.plans);
    visit("rounds", r.rounds);
}

namespace {

constexpr JsonLimits kShardLimits = {.maxBytes = 1U << 30U, .maxDepth = 8, .maxNodes = 100'000'000};

template <typename T> constexpr const char* kRecordName = nullptr;
template <> constexpr const char* kRecordName<ShardAnswer> = "answer";
template <> constexpr const char* kRecordName<ShardDraw> = "draw";
template <> constexpr const char* kRecordName<ShardTrial> = "trial";
template <> constexpr const char* kRecordName<ShardPlan> = "plan";
template <> constexpr const char* kRecordName<ShardRound> = "round";
template <> constexpr const char* kRecordName<ShardLeftOut> = "left_out";
template <> constexpr const char* kRecordName<ShardResumed> = "resumed";

template <std::size_t index = 0>
Result<ShardRecord> readNamed(const JsonValue& root, const std::string& where) {
    if constexpr (index == std::variant_size_v<ShardRecord>) {
        return Error{ErrorCode::CorruptFile, where + ": it is no record of a part.", ""};
    } else {
        using Record = std::variant_alternative_t<index, ShardRecord>;
        const JsonValue found = root[kRecordName<Record>];
        if (found.isNull())
            return readNamed<index + 1>(root, where);
        ENGINE_TRY(Record record, readMembers<Record>(found, where));
        return ShardRecord(std::move(record));
    }
}

Result<void> checkHasPrompt(int prompt, const std::string& where, std::size_t prompts) {
    if (prompt >= 0 && static_cast<std::size_t>(prompt) < prompts)
        return {};
    return Error{ErrorCode::CorruptFile,
                 fmt::format("{}: a record is of prompt {}, but the run has {}.",
                             where,
                             static_cast<long>(prompt) + 1,
                             prompts),
                 "Delete the file; --resume runs the part again."};
}

/// The test of draws takes memory for as many places as the longest one has.
Result<void> checkLength(const ShardDraw& draw, const std::string& where) {
    if (draw.tokens.size() <= std::size_t{kMostDrawTokens})
        return {};
    return Error{ErrorCode::CorruptFile,
                 fmt::format("{}: a draw has {} tokens, but no run draws more than {}.",
                             where,
                             draw.tokens.size(),
                             kMostDrawTokens),
                 "Delete the file; --resume runs the part again."};
}

template <typename Record>
Result<void>
checkPrompts(const std::vector<Record>& records, const std::string& where, std::size_t prompts) {
    for (const Record& record : records)
        ENGINE_TRY_DO(checkHasPrompt(record.prompt, where, prompts));
    return {};
}

void put(ShardResult& to, ShardAnswer made) { to.answers.push_back(std::move(made)); }

void put(ShardResult& to, ShardDraw made) { to.draws.push_back(std::move(made)); }

void put(ShardResult& to, ShardTrial made) { to.trials.push_back(std::move(made)); }

void put(ShardResult& to, ShardPlan made) { to.plans.push_back(std::move(made)); }

void put(ShardResult& to, ShardRound made) { to.rounds.push_back(std::move(made)); }

void put(ShardResult& to, ShardLeftOut made) { to.leftOut.push_back(std::move(made)); }

void put(ShardResult& to, ShardResumed made) { to.resumed.push_back(made); }

} // namespace

std::string recordJson(const ShardRecord& record) {
    return std::visit(
        []<typename Record>(const Record& held) {
            return fmt::format("{{\"{}\":{}}}", kRecordName<Record>, membersJson(held));
        },
        record);
}

Result<ShardRecord>
readRecord(std::string_view line, const std::string& where, std::size_t prompts) {
    ENGINE_TRY(const JsonDocument document, JsonDocument::parse(line, where, kShardLimits));
    ENGINE_TRY(ShardRecord record, readNamed(document.root(), where));
    const int prompt = std::visit([](const auto& held) { return held.prompt; }, record);
    ENGINE_TRY_DO(checkHasPrompt(prompt, where, prompts));
    if (const auto* draw = std::get_if<ShardDraw>(&record))
        ENGINE_TRY_DO(checkLength(*draw, where));
    return record;
}

void addRecord(ShardResult& result, ShardRecord record) {
    std::visit([&](auto& held) { put(result, std::move(held)); }, record);
}

std::string shardJson(const ShardResult& result) { return membersJson(result) + "\n"; }

Result<ShardResult>
readShard(std::string_view text, const std::string& where, std::size_t prompts) {
    ENGINE_TRY(const JsonDocument document, JsonDocument::parse(text, where, kShardLimits));
    ENGINE_TRY(ShardResult result, readMembers<ShardResult>(document.root(), where));
    ENGINE_TRY_DO(checkPrompts(result.answers, where, prompts));
    ENGINE_TRY_DO(checkPrompts(result.draws, where, prompts));
    for (const ShardDraw& draw : result.draws)
        ENGINE_TRY_DO(checkLength(draw, where));
    ENGINE_TRY_DO(checkPrompts(result.trials, where, prompts));
    ENGINE_TRY_DO(checkPrompts(result.plans, where, prompts));
    ENGINE_TRY_DO(checkPrompts(result.rounds, where, prompts));
    ENGINE_TRY_DO(checkPrompts(result.leftOut, where, prompts));
    ENGINE_TRY_DO(checkPrompts(result.resumed, where, prompts));
    return result;
}

} // namespace engine
