// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/found_sets.h"

#include "engine/loading/files/readable_text.h"
#include "engine/loading/json/json_text.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iomanip>
#include <locale>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

namespace engine {

namespace {

/// A set for a task, and how it stands beside others for the same one.
struct Candidate {
    StoredSkipSet stored;
    bool isBeforehand = false; ///< a search has found it before anything was answered
    double worth = 0.0;        ///< its score, or else tokens per second of the answers

    bool isBelow(const Candidate& other) const {
        return std::tie(isBeforehand, worth) < std::tie(other.isBeforehand, other.worth);
    }
};

using Candidates = std::map<std::pair<int, std::string>, Candidate>; // by model and task

bool isFoundBeforehand(const ShardPlan& plan) { return plan.reason == "found"; }

/// Other sets were given, or are those with which a search began.
bool isFound(const ShardPlan& plan) {
    const bool isEmpty = plan.attention.empty() && plan.mlp.empty();
    return !isEmpty && (plan.score > 0.0 || isFoundBeforehand(plan));
}

/// Seconds since 1970; 0 if the text is no time.
std::int64_t secondsOf(const std::string& utc) {
    std::tm parts{};
    std::istringstream text(utc);
    text.imbue(std::locale::classic());
    text >> std::get_time(&parts, "%Y-%m-%dT%H:%M:%SZ");
    return text.fail() ? 0 : static_cast<std::int64_t>(timegm(&parts));
}

/// Tokens per second of the answers of the set's variant to the set's task; 0 without any.
double speedOf(const ShardResult& shard, const ShardPlan& plan) {
    double ms = 0.0;
    long tokens = 0;
    for (const ShardAnswer& answer : shard.answers)
        if (answer.variant == plan.variant && answer.task == plan.task) {
            ms += answer.decodeMs;
            tokens += answer.tokens;
        }
    return ms > 0.0 ? 1e3 * static_cast<double>(tokens) / ms : 0.0;
}

/// A search beforehand is for one task, which its trials need not name.
int trialsOf(const ShardResult& shard, const ShardPlan& plan) {
    int trials = 0;
    for (const ShardTrial& trial : shard.trials)
        if (trial.variant == plan.variant && (trial.task == plan.task || isFoundBeforehand(plan)))
            trials = std::max(trials, trial.index);
    return trials;
}

/// Who found it in which run.
std::string sourceOf(const RunFolder& run, const ShardPlan& plan) {
    const RunVariant* variant = run.plan().variant(plan.variant);
    std::string finder = plan.variant;
    if (variant != nullptr)
        finder = variant->search ? variant->search->method : variant->decoder;
    return fmt::format("{}, {}", finder, readable(run.recipe().title));
}

StoredSkipSet
storedOf(const RunFolder& run, const ShardResult& shard, const ShardPlan& plan, SkipSet set) {
    return {.set = std::move(set),
            .score = std::isfinite(plan.score) ? plan.score : 0.0,
            .skipRatio = std::isfinite(plan.ratio) ? std::clamp(plan.ratio, 0.0, 1.0) : 0.0,
            .decoder = sourceOf(run, plan),
            .savedAt =
                secondsOf(shard.startedUtc.empty() ? run.plan().createdUtc : shard.startedUtc),
            .trials = trialsOf(shard, plan)};
}

void addSets(const RunFolder& run, int model, const ShardResult& shard, Candidates& best) {
    const int layers = run.plan().models.at(static_cast<std::size_t>(model)).layers;
    if (layers < 1)
        return;
    std::map<std::pair<std::string, std::string>, const ShardPlan*> last; // by variant and task
    for (const ShardPlan& plan : shard.plans)
        if (isFound(plan))
            last[{plan.variant, plan.task}] = &plan;
    for (const auto& [place, plan] : last) {
        const auto whole = planOf({plan->attention, plan->mlp}, layers);
        if (!whole) // of a file that was changed by hand
            continue;
        Candidate made{.stored = storedOf(run, shard, *plan, skipSetOf(whole.value())),
                       .isBeforehand = isFoundBeforehand(*plan)};
        made.worth = made.isBeforehand ? made.stored.score : speedOf(shard, *plan);
        const auto [known, isNew] = best.try_emplace({model, plan->task}, made);
        if (!isNew && known->second.isBelow(made))
            known->second = std::move(made);
    }
}

std::string entryOf(const FoundSkipSet& found) {
    std::string text = skipSetJson(found.stored.set);
    text.pop_back();
    return text + fmt::format(",\"task\":{},\"model\":{},\"fingerprint\":{},\"score\":{},"
                              "\"skip_ratio\":{},\"trials\":{},\"decoder\":{},\"saved_at\":{}}}",
                              jsonString(found.task),
                              jsonString(found.model),
                              jsonString(found.fingerprint),
                              found.stored.score,
                              found.stored.skipRatio,
                              found.stored.trials,
                              jsonString(found.stored.decoder),
                              found.stored.savedAt);
}

} // namespace

Result<std::vector<FoundSkipSet>> foundSets(const RunFolder& run) {
    Candidates best;
    for (const PlannedShard& planned : run.plan().shards) {
        auto shard = run.result(planned.index);
        if (!shard && run.recipe().isStream)
            shard = run.resultSoFar(planned.index);
        if (shard)
            addSets(run, planned.model, shard.value(), best);
        else if (shard.error().code != ErrorCode::NotFound &&
                 shard.error().code != ErrorCode::CorruptFile)
            return std::move(shard).error();
    }
    std::vector<FoundSkipSet> found;
    for (auto& [place, candidate] : best) {
        const auto& [number, task] = place;
        const RunModel& model = run.plan().models.at(static_cast<std::size_t>(number));
        found.push_back({task, model.name, model.identity, std::move(candidate.stored)});
    }
    return found;
}

std::string foundSetsJson(const std::vector<FoundSkipSet>& sets) {
    const bool hasSeveral = std::any_of(sets.begin(), sets.end(), [&](const FoundSkipSet& set) {
        return set.fingerprint != sets.front().fingerprint;
    });
    std::map<std::string, std::string> entries;
    for (const FoundSkipSet& set : sets)
        entries.emplace(jsonString(hasSeveral ? set.model + "_" + set.task : set.task),
                        entryOf(set));
    std::string text;
    for (const auto& [name, entry] : entries)
        text += fmt::format("{} {}: {}", text.empty() ? "\n" : ",\n", name, entry);
    return "{" + text + "\n}\n";
}

} // namespace engine
