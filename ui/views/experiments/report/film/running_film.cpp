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

} // namespace

ResultFigurePtr runningFilm(const RunPicture& picture) {
    if (picture.facts == nullptr || picture.progress.plans.empty())
        return nullptr;
    const std::vector<engine::FigureWish>& wishes = picture.facts->recipe.figures;
    const auto wish = std::ranges::find_if(wishes, asksForFilm);
    if (wish == wishes.end())
        return nullptr;
    std::map<std::string, std::pair<int, double>> clocks; // of a track: its part, and the last time
    std::vector<engine::FilmChange> changes;
    for (const engine::ShardPlan& plan : picture.progress.plans) {
        QString track = readableTitle(QString::fromStdString(plan.variant));
        if (!plan.task.empty())
            track =
                readableTaskTitle(QString::fromStdString(plan.task)) + QStringLiteral(", ") + track;
        auto& [part, at] = clocks[track.toStdString()];
        if (plan.at < at) // another part, with a clock of its own
            ++part;
        at = plan.at;
        changes.push_back({track.toStdString(), part, &plan, picture.facts->layers});
    }
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
