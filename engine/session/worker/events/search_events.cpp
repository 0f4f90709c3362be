// SPDX-License-Identifier: Apache-2.0
#include "engine/session/worker/events/search_events.h"

namespace engine {

namespace {

std::vector<std::string> textsOf(const std::vector<TokenId>& ids, const Tokenizer* tokenizer) {
    std::vector<std::string> texts;
    if (tokenizer != nullptr)
        for (const TokenId id : ids)
            texts.push_back(readableToken(*tokenizer, id));
    return texts;
}

TrialFinished
eventOf(const TrialRecord& trial, const std::string& task, const Tokenizer* tokenizer) {
    return {.trialKind = trial.kind,
            .counts = trial.counts,
            .index = trial.index,
            .score = trial.score,
            .best = trial.best,
            .isBest = trial.isBest,
            .plan = outlineOf(trial.plan),
            .ticks = {trial.ticks.begin(), trial.ticks.end()},
            .window = textsOf(trial.window, tokenizer),
            .guesses = textsOf(trial.guesses, tokenizer),
            .suggestMs = trial.suggestMs,
            .scoreMs = trial.scoreMs,
            .task = trial.task.empty() ? task : trial.task,
            .isBeside = trial.isBeside};
}

} // namespace

void tellSearch(const SearchReport& report,
                const std::string& task,
                const Tokenizer* tokenizer,
                bool hasNewPhase,
                EventOutlet& outlet,
                std::uint64_t conversation) {
    for (const TrialRecord& trial : report.trials)
        outlet.emit(eventOf(trial, task, tokenizer), conversation);
    for (const PlanChange& change : report.planChanges)
        outlet.emit(PlanChanged{.planId = change.planId,
                                .plan = outlineOf(change.plan),
                                .skipRatio = change.skipRatio,
                                .reason = change.reason,
                                .askedRatio = change.askedRatio,
                                .ratioReason = change.ratioReason,
                                .task = change.task.empty() ? task : change.task,
                                .isBeside = change.isBeside},
                    conversation);
    if (report.forecast)
        outlet.emit(ForecastMade{*report.forecast}, conversation);
    if (hasNewPhase)
        outlet.emit(PhaseChanged{report.phase, task}, conversation);
    for (const std::string& note : report.notes)
        outlet.emit(Note{note}, conversation);
}

} // namespace engine
