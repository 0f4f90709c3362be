// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/analysis/result_parts.h"
#include "engine/experiments/report/analysis/verdict/verdict_context.h"
#include "engine/experiments/report/analysis/verdict/verdict_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

// The verdicts of recipes that ask for something else than a speed.

namespace engine {

namespace {

/// Whether the scores of a search are speeds, and no shares of predicted tokens.
bool isScoredBySpeed(const Selection& selection) {
    return std::ranges::any_of(selection.trials, [](const TrialRun* run) {
        const RunVariant* planned = run->place.variant->planned;
        return planned != nullptr && planned->search && planned->search->method == "self_sd";
    });
}

} // namespace

ExperimentVerdict plainVerdict(const VerdictContext& context) {
    const Selection all = context.data.select({}, {});
    std::size_t answers = 0;
    for (const AnsweredPrompt* run : all.runs)
        answers += run->own.size();
    auto best = measured("best_matchness", all);
    if (best && (best->value > 1.0 || isScoredBySpeed(all)))
        best.reset(); // a speed, and no share of predicted tokens
    const auto trials = measured("trials", all);
    const std::string count = trials ? measureText("trials", *trials) : "0";
    const std::string tried =
        count == "1" ? "One set was tried" : fmt::format("{} sets were tried", count);
    if (answers == 0 && !best)
        return {VerdictKind::Finding, tried + ".", ""};
    if (best && (context.isAboutSets || answers == 0))
        return {VerdictKind::Finding,
                fmt::format("{}; {} predicts {} of the tokens.",
                            tried,
                            count == "1" ? "it" : "the best one",
                            measureText("best_matchness", *best)),
                equalSentence(context.data)};
    return {VerdictKind::Finding,
            answers == 1 ? "One answer was measured."
                         : fmt::format("{} answers were measured.", answers),
            equalSentence(context.data)};
}

ExperimentVerdict diagonalVerdict(const VerdictContext& context) {
    const std::vector<std::string> tasks = context.data.groups(context.stage, "task");
    const std::vector<std::string> sets = context.data.groups(context.stage, "set");
    OwnSets found;
    std::vector<std::string> refused; // tasks
    for (const std::string& task : tasks) {
        std::optional<Estimate> own;
        std::optional<std::pair<std::string, Estimate>> other;
        for (const std::string& set : sets) {
            const std::vector<Filter> filters = {{"task", task}, {"set", set}};
            const auto value = measured("speedup", context.data.select(context.stage, filters));
            if (!value)
                continue;
            if (set == task)
                own = value;
            else if (!other || value->value > other->second.value)
                other = std::pair(context.data.label("task", set), *value);
        }
        const std::vector<Filter> onTask = {{"task", task}};
        if (own && other)
            found.add(context.data.label("task", task), *own, other->first, other->second);
        else if (refusedFor("speedup", context.data.select(context.stage, onTask)))
            refused.push_back(context.data.label("task", task));
    }
    ExperimentVerdict verdict = found.verdict();
    if (!refused.empty())
        verdict.cause +=
            fmt::format("{}Left out, because vanilla moved there: {}.",
                        verdict.cause.empty() || verdict.cause.back() == ' ' ? "" : " ",
                        joined(refused));
    return verdict;
}

/// A decoder that never drafted has shown nothing, so neither its answers nor its draws count,
/// unless they differ all the same.
ExperimentVerdict equalVerdict(const VerdictContext& context) {
    Selection audited;
    std::vector<const ReportVariant*> drafting;
    std::vector<std::string> unequal;
    std::vector<std::string> plain;
    for (const auto& variant : context.data.variants()) {
        if (variant->isVanilla)
            continue;
        const Selection own = context.of(*variant);
        const auto share = measured("equal", own);
        const bool differs = share && share->value < 1.0;
        const DecodeMetrics sums = sumsOf(own);
        if (!differs && sums.rounds == 0 && sums.plainRounds > 0) {
            plain.push_back(variant->label);
            continue;
        }
        drafting.push_back(variant.get());
        audited.runs.insert(audited.runs.end(), own.runs.begin(), own.runs.end());
        if (share && differs)
            unequal.push_back(fmt::format("{} ({})", variant->label, measureText("equal", *share)));
    }
    const EqualCounts counts = equalCounts(audited);
    const DrawnWords drawn = drawnWords(context.data, drafting);
    std::set<std::string> dropped; // without a single answer
    for (const ShardResult& shard : context.data.shards())
        for (const auto& [variant, reason] : shard.failures)
            if (!context.data.variant(variant))
                dropped.insert(context.data.label("variant", variant));
    std::string idle =
        plain.empty() ? "" : fmt::format("Never drafted, and so not audited: {}. ", joined(plain));
    if (!dropped.empty())
        idle += fmt::format("Dropped, and so not audited: {}.",
                            joined({dropped.begin(), dropped.end()}));
    if (counts.compared == 0 && drawn.sentence.empty()) {
        ExperimentVerdict verdict = plainVerdict(context);
        if (!idle.empty())
            verdict.cause = idle;
        return verdict;
    }
    const bool isEqual = counts.equal == counts.compared;
    const bool isKept = counts.equal + counts.nearTies == counts.compared;
    const bool isPassed = isKept && !drawn.hasOthers;
    const std::string sentence = equalSentence(counts);
    // A failure stands in front of what has passed.
    const bool isAboutDraws = sentence.empty() || (isKept && drawn.hasOthers);
    std::string cause;
    if (!unequal.empty())
        cause = "Equal to vanilla's, token for token: " + joined(unequal) + ". ";
    if (const std::string& rest = isAboutDraws ? sentence : drawn.sentence; !rest.empty())
        cause += rest + " ";
    cause += idle;
    return {!isPassed ? VerdictKind::NoGain
            : isEqual ? VerdictKind::Gain
                      : VerdictKind::Finding,
            fmt::format("{} {}",
                        isPassed ? "Passed." : "Failed.",
                        isAboutDraws ? drawn.sentence : sentence),
            cause};
}

ExperimentVerdict shareVerdict(const VerdictContext& context) {
    const ReportVariant* subject = context.data.variant(context.wish.variant);
    const auto part = subject ? measured(context.wish.measure, context.of(*subject)) : std::nullopt;
    if (!part)
        return plainVerdict(context);
    std::vector<std::string> parts;
    for (const char* name : {"draft_share", "verify_share", "search_share", "other_share"}) {
        const auto value = measured(name, context.of(*subject));
        if (value && name != context.wish.measure)
            parts.push_back(
                fmt::format("{} {}", measureInfo(name).heading, measureText(name, *value)));
    }
    return {VerdictKind::Finding,
            fmt::format("{} takes {} of {}'s time.",
                        measureInfo(context.wish.measure).heading,
                        measureText(context.wish.measure, *part),
                        subject->label),
            parts.empty() ? "" : fmt::format("The rest: {}.", joined(parts))};
}

ExperimentVerdict driftVerdict(const VerdictContext& context) {
    const ReportVariant* subject = context.data.variant(context.wish.variant);
    const ReportVariant* other = context.data.variant(context.wish.against);
    const std::vector<std::string> tasks = context.data.groups(context.stage, "task");
    if (!subject || !other || tasks.size() < 2)
        return plainVerdict(context);
    const auto laterOf = [&](const ReportVariant& variant) {
        Selection later = context.of(variant);
        std::erase_if(later.runs,
                      [&](const AnsweredPrompt* run) { return run->place.task == tasks.front(); });
        return later;
    };
    const auto change = [&](const ReportVariant& variant) {
        return std::pair(measured("acceptance", context.of(variant, tasks.front())),
                         measured("acceptance", laterOf(variant)));
    };
    const auto keptOf = [](const Selection& selection) {
        const DecodeMetrics sums = sumsOf(selection);
        return fmt::format("{} of {}", sums.accepted, sums.draftSteps);
    };
    const auto [first, then] = change(*subject);
    const auto [otherFirst, otherThen] = change(*other);
    if (!first || !then || !otherFirst || !otherThen)
        return plainVerdict(context);
    const double lost = first->value - then->value;
    const double otherLost = otherFirst->value - otherThen->value;
    const auto speed = measured("speedup", context.of(*subject));
    const auto otherSpeed = measured("speedup", context.of(*other));
    std::string cause =
        fmt::format("The first task is {}. With {}, {} drafted tokens are kept there and {} later; "
                    "with {}, {} and {}.",
                    context.data.label("task", tasks.front()),
                    subject->label,
                    keptOf(context.of(*subject, tasks.front())),
                    keptOf(laterOf(*subject)),
                    other->label,
                    keptOf(context.of(*other, tasks.front())),
                    keptOf(laterOf(*other)));
    if (speed && otherSpeed)
        cause += fmt::format(" Over the whole stream {} runs at {}, {} at {} of vanilla.",
                             subject->label,
                             measureText("speedup", *speed),
                             other->label,
                             measureText("speedup", *otherSpeed));
    return {otherLost > lost ? VerdictKind::Gain : VerdictKind::NoGain,
            fmt::format("After the first task, the share of drafted tokens that are kept goes from "
                        "{} to {} with {}, and from {} to {} with {}.",
                        measureText("acceptance", *first),
                        measureText("acceptance", *then),
                        subject->label,
                        measureText("acceptance", *otherFirst),
                        measureText("acceptance", *otherThen),
                        other->label),
            cause};
}

} // namespace engine
