// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/report/film/running_film.h"

#include "engine/experiments/report/film/set_film.h"

#include <algorithm>
#include <map>

namespace ui {

namespace {

bool asksForFilm(const engine::FigureWish& wish) {
    return wish.kind == "layer_grids" && (wish.x == "time" || wish.x == "prompt");
}

/// Whether the sets of a variant belong into the film; null for one that the plan does not have.
bool isWished(const engine::FigureWish& wish,
              const std::string& stage,
              const std::string& name,
              const engine::RunVariant* variant) {
    const auto isNamed = [&](const std::string& wished) {
        return wished == name || (variant != nullptr && wished == variant->base);
    };
    const bool isInStage = stage.empty() || (variant != nullptr && variant->stage == stage);
    return isInStage && (wish.variants.empty() || std::ranges::any_of(wish.variants, isNamed));
}

int layersOf(const RunFacts& facts, const engine::RunVariant* variant) {
    const std::vector<engine::RunModel>& models = facts.plan.models;
    const auto model =
        variant != nullptr ? static_cast<std::size_t>(variant->model) : models.size();
    return model < models.size() ? models[model].layers : facts.layers;
}

} // namespace

ResultFigurePtr runningFilm(const RunPicture& picture) {
    const std::vector<engine::ShardPlan>& plans = picture.progress.plans;
    if (picture.facts == nullptr || plans.empty())
        return nullptr;
    const std::vector<engine::FigureWish>& wishes = picture.facts->recipe.figures;
    const auto wish = std::ranges::find_if(wishes, asksForFilm);
    if (wish == wishes.end())
        return nullptr;
    const engine::RunVariant* last = picture.facts->plan.variant(plans.back().variant);
    const std::string& stage = wish->stage.empty() && last != nullptr ? last->stage : wish->stage;
    std::map<std::string, std::pair<int, double>> clocks; // of a track: its part, and the last time
    std::vector<engine::FilmChange> changes;
    for (const engine::ShardPlan& plan : plans) {
        const engine::RunVariant* variant = picture.facts->plan.variant(plan.variant);
        if (!isWished(*wish, stage, plan.variant, variant))
            continue;
        QString track = readableTitle(QString::fromStdString(plan.variant));
        if (!plan.task.empty())
            track =
                readableTaskTitle(QString::fromStdString(plan.task)) + QStringLiteral(", ") + track;
        auto& [part, at] = clocks[track.toStdString()];
        if (plan.at < at) // another part, with a clock of its own
            ++part;
        at = plan.at;
        changes.push_back({track.toStdString(), part, &plan, layersOf(*picture.facts, variant)});
    }
    if (changes.empty())
        return nullptr;
    auto figure = std::make_shared<engine::ResultFigure>();
    figure->id = wish->id;
    figure->title = wish->title;
    figure->note = wish->note;
    engine::fillFilm(*figure, changes);
    return figure;
}

std::vector<ResultFigurePtr> sharedFigures(const ResultPtr& result, const ResultFigurePtr& film) {
    std::vector<ResultFigurePtr> figures;
    for (const engine::ResultFigure& figure : result->figures)
        figures.emplace_back(result, &figure);
    if (film == nullptr)
        return figures;
    const auto own = std::ranges::find_if(
        figures, [&](const ResultFigurePtr& figure) { return figure->id == film->id; });
    if (own == figures.end())
        figures.insert(figures.begin(), film);
    else if ((*own)->panels.size() <= film->panels.size())
        *own = film;
    return figures;
}

} // namespace ui
