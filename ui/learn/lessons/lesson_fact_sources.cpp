// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/lessons/lesson_fact_sources.h"

#include <algorithm>
#include <ranges>

namespace ui {

using namespace engine;

namespace {

void tell(LessonFacts& facts, const char* name, const std::optional<double>& value) {
    if (value)
        facts.insert_or_assign(name, *value);
}

/// Passes of the full model: each round has one, and the first token comes from the prompt's.
void tellAnswer(LessonFacts& facts, const RunStore& run) {
    const auto& answers = run.answers().answers();
    const auto newest = std::ranges::find_if(answers | std::views::reverse, [](const Answer& each) {
        return each.promptId < kFirstHiddenPrompt; // a search asks hidden ones
    });
    if (newest == answers.rend())
        return;
    const Answer* answer = &*newest;
    const SpanFigures figures = run.speed().answer();
    tell(facts, "answer.tokens", static_cast<double>(answer->tokens.size()));
    tell(facts, "answer.passes", static_cast<double>(answer->steps.size()));
    if (!answer->finished)
        return; // the figures are those of a whole answer
    if (!figures.isDrafting())
        return;
    tell(facts, "answer.M", figures.sums.tokensPerRound());
    tell(facts, "answer.acceptance", figures.sums.acceptance());
    tell(facts, "answer.speedup", figures.speedup());
    if (const auto factors = figures.factors()) {
        tell(facts, "answer.c", factors->draftCost);
        tell(facts, "answer.v", factors->verifyCost);
        SpeedFactors equation = *factors; // equation 6 has a verification for a plain step
        equation.verifyCost = 1.0;
        equation.otherCost = 0.0;
        tell(facts, "answer.expected", expectedSpeedup(equation));
    }
}

void tellSet(LessonFacts& facts, const RunStore& run) {
    const SearchLog& search = run.search();
    tell(facts, "search.trials", search.countedTrials());
    if (!search.trials().empty())
        tell(facts, "search.best", search.trials().back().best);
    const BestSet* set = search.current();
    if (set == nullptr)
        return;
    const SkipSet& skipped = set->change.plan.skipped;
    const auto count = static_cast<double>(skipped.attention.size() + skipped.mlp.size());
    const auto layers = static_cast<std::size_t>(set->change.plan.layerCount);
    const double searchable =
        2.0 * static_cast<double>(layers - run.lockedLayers(set->change.plan.layerCount).size());
    tell(facts, "set.skipped", count);
    tell(facts, "set.attention", static_cast<double>(skipped.attention.size()));
    tell(facts, "set.mlp", static_cast<double>(skipped.mlp.size()));
    if (searchable > 0.0)
        tell(facts, "set.ratio", count / searchable);
    if (set->trial)
        tell(facts, "set.matchness", set->trial->score);
    const auto& copies = run.model()->model.silentCopies;
    if (copies.empty())
        return;
    const auto isCopy = [&](int layer) { return std::ranges::find(copies, layer) != copies.end(); };
    const auto found = std::ranges::count_if(skipped.attention, isCopy) +
                       std::ranges::count_if(skipped.mlp, isCopy);
    tell(facts,
         "search.planted",
         static_cast<double>(found) / (2.0 * static_cast<double>(copies.size())));
}

} // namespace

LessonFacts factsOfRun(const RunStore& run) {
    LessonFacts facts;
    if (run.model() == nullptr)
        return facts;
    const ModelFacts& model = run.model()->model;
    tell(facts, "model.layers", model.layerCount);
    tell(facts, "model.sublayers", 2.0 * model.layerCount);
    tell(facts, "model.planted", model.silentCopies.empty() ? 0.0 : 1.0);
    tellAnswer(facts, run);
    tellSet(facts, run);
    return facts;
}

} // namespace ui
