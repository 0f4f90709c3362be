// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/analysis/result_parts.h"
#include "engine/experiments/report/film/set_film.h"
#include "engine/model/skip_sets/skip_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace engine {

namespace {

SkipSet setOf(const ShardPlan& plan) { return {plan.attention, plan.mlp}; }

int layersOf(const RunData& data, const RunPlace& place) {
    const auto model = static_cast<std::size_t>(place.shard->model);
    return model < data.plan().models.size() ? data.plan().models[model].layers : 0;
}

/// The stage of a wish, or all stages if no set was chosen in it.
std::string stageOfSets(const RunData& data, const FigureWish& wish) {
    const std::string stage = data.stageOf(wish.stage);
    return data.select(stage, {}, wish.variants).plans.empty() ? std::string() : stage;
}

/// The sets of the tasks, as found last.
void fillJaccard(const RunData& data, const FigureWish& wish, ResultFigure& figure) {
    const std::string stage = stageOfSets(data, wish);
    std::vector<SkipSet> sets;
    const std::string grouping = wish.x == "variant" ? "variant" : "task";
    for (const FigureGroup& group : figureGroups(data, wish, grouping, stage)) {
        const ShardPlan* plan = lastPlan(selectAll(data, wish, stage, {&group}));
        if (!plan)
            continue;
        sets.push_back(setOf(*plan));
        figure.x.names.push_back(group.label);
    }
    figure.y.names = figure.x.names;
    figure.y.title.clear();
    FigurePanel panel;
    for (const SkipSet& row : sets) {
        std::vector<Estimate> cells;
        for (const SkipSet& column : sets)
            cells.push_back({compareSkipSets(row, column).jaccard(), {}, {}, 1});
        panel.cells.push_back(std::move(cells));
    }
    if (!sets.empty())
        figure.panels.push_back(std::move(panel));
}

} // namespace

void fillMatrix(const RunData& data, const FigureWish& wish, ResultFigure& figure) {
    if (wish.y == std::vector<std::string>{"jaccard"}) {
        fillJaccard(data, wish, figure);
        return;
    }
    const std::string stage = data.stageOf(wish.stage);
    // Sets stand on the left, whichever way round the wish names them.
    const bool isTurned = wish.x == "set";
    const std::string rows = isTurned ? "set" : wish.series.empty() ? "variant" : wish.series;
    const std::string columns = !isTurned             ? wish.x
                                : wish.series.empty() ? std::string("task")
                                                      : wish.series;
    const auto name = [](const std::string& grouping) {
        return grouping == "set"    ? std::string("set found on")
               : grouping == "task" ? std::string("run on prompts of")
                                    : settingName(grouping);
    };
    figure.y.title = name(rows);
    figure.x.title = name(columns);
    const std::vector<FigureGroup> rowGroups = figureGroups(data, wish, rows, stage);
    const std::vector<FigureGroup> columnGroups = figureGroups(data, wish, columns, stage);
    for (const FigureGroup& group : rowGroups)
        figure.y.names.push_back(group.label);
    for (const FigureGroup& group : columnGroups)
        figure.x.names.push_back(group.label);
    for (const FigureGroup& panel : figureGroups(data, wish, wish.panels, stage)) {
        const std::string measure = !panel.measure.empty() ? panel.measure
                                    : wish.y.empty()       ? std::string("speedup")
                                                           : wish.y.front();
        FigurePanel made{panel.label, {}, {}, false};
        bool hasValue = false;
        for (const FigureGroup& row : rowGroups) {
            std::vector<Estimate> cells;
            for (const FigureGroup& column : columnGroups) {
                const auto value = drawnValue(
                    measure, selectAll(data, wish, stage, {&panel, &row, &column}), figure);
                hasValue = hasValue || value;
                cells.push_back(value.value_or(Estimate{}));
            }
            made.cells.push_back(std::move(cells));
        }
        if (hasValue)
            figure.panels.push_back(std::move(made));
    }
}

void fillLayerGrids(const RunData& data, const FigureWish& wish, ResultFigure& figure) {
    const std::string stage = stageOfSets(data, wish);
    if (wish.x == "time" || wish.x == "prompt") {
        const Selection all = selectAll(data, wish, stage, {});
        std::vector<FilmChange> changes;
        for (const PlanRun* run : all.plans) {
            const std::string& variant = run->place.variant->label;
            changes.push_back(
                {run->place.task.empty()
                     ? variant
                     : fmt::format("{}, {}", data.label("task", run->place.task), variant),
                 run->place.shard->index,
                 run->plan,
                 layersOf(data, run->place)});
        }
        fillFilm(figure, changes);
        return;
    }
    figure.x.title = "layers";
    figure.y.names = {"attention", "MLP"};
    const std::string grouping = wish.panels.empty() ? wish.x : wish.panels;
    for (const FigureGroup& group : figureGroups(data, wish, grouping, stage)) {
        const Selection own = selectAll(data, wish, stage, {&group});
        if (own.plans.empty())
            continue;
        const PlanRun& last = *own.plans.back();
        figure.panels.push_back(layerGrid(*last.plan, layersOf(data, last.place), group.label));
    }
}

std::vector<OriginText> makeOrigins(const RunData& data) {
    const auto seedOfShard = [&](const ShardResult& shard) {
        return data.plan().shards[static_cast<std::size_t>(shard.shard)].seed;
    };
    std::set<std::uint64_t> seeds;
    for (const ShardResult& shard : data.shards()) {
        if (!shard.rounds.empty())
            seeds.insert(seedOfShard(shard));
    }
    std::vector<OriginText> texts;
    std::map<std::tuple<std::string, int, std::uint64_t>, std::size_t> places;
    for (const ShardResult& shard : data.shards()) {
        const std::uint64_t seed = seedOfShard(shard);
        for (const ShardRound& round : shard.rounds) {
            if (round.pass != 0)
                continue;
            const auto [place, isNew] =
                places.try_emplace({round.variant, round.prompt, seed}, texts.size());
            if (isNew) {
                std::string title = fmt::format(
                    "{}, prompt {}", data.label("variant", round.variant), round.prompt + 1);
                if (seeds.size() > 1)
                    title += fmt::format(", seed {}", seed);
                texts.push_back({std::move(title), {}});
            }
            OriginText& text = texts[place->second];
            for (std::size_t i = 0; i < round.tokens.size(); ++i) {
                if (!round.tokens[i].empty()) // an end, or a part of a character
                    text.tokens.push_back(
                        {round.tokens[i], i < round.ranks.size() ? round.ranks[i] : 0});
            }
        }
    }
    return texts;
}

} // namespace engine
