// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/film/set_film.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace engine {

namespace {

constexpr std::size_t kMostTracks = 32; ///< of a film; the others are left out
constexpr int kMostGridLayers = 1000;   ///< of a run that says that its model has more
constexpr std::size_t kLeastFrames = 24;
constexpr std::size_t kMostFrameCells = 100'000; ///< of all frames; a report has some MB of them

/// Two rows of cells, attention above MLP; 1 = skipped.
std::vector<std::vector<Estimate>> layerCells(const ShardPlan& plan, int layers) {
    const int columns = std::clamp(layers, 0, kMostGridLayers);
    std::vector<std::vector<Estimate>> cells(
        2, std::vector<Estimate>(static_cast<std::size_t>(columns), {0.0, {}, {}, 1}));
    const auto skip = [&](std::vector<Estimate>& row, const std::vector<int>& skipped) {
        for (const int layer : skipped) {
            if (layer >= 0 && layer < columns)
                row[static_cast<std::size_t>(layer)].value = 1.0;
        }
    };
    skip(cells[0], plan.attention);
    skip(cells[1], plan.mlp);
    return cells;
}

std::string withTrack(const std::string& track, const std::string& title) {
    return track.empty() ? title : fmt::format("{}: {}", track, title);
}

} // namespace

FigurePanel layerGrid(const ShardPlan& plan, int layers, std::string title) {
    FigurePanel panel{std::move(title), {}, layerCells(plan, layers), false};
    std::string caption = fmt::format("{} of {} skipped",
                                      plan.attention.size() + plan.mlp.size(),
                                      2 * static_cast<std::size_t>(std::max(layers, 0)));
    if (plan.score > 0.0)
        caption += fmt::format(", matchness {:.2f}", plan.score);
    panel.series.push_back({caption, {}});
    return panel;
}

std::vector<std::size_t> evenPlaces(std::size_t count, std::size_t most) {
    const std::size_t kept = std::min(count, most);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < kept; ++i)
        places.push_back(kept > 1 ? i * (count - 1) / (kept - 1) : count - 1);
    return places;
}

void fillFilm(ResultFigure& figure, std::span<const FilmChange> changes) {
    figure.kind = FigureKind::LayerGrids;
    figure.x.title = "layers";
    figure.y.names = {"attention", "MLP"};
    std::map<std::string, std::map<int, int>> parts; // of a track: how many changes each has
    for (const FilmChange& change : changes)
        parts[change.track][change.part] = 0;
    const std::vector<std::size_t> kept = evenPlaces(changes.size(), kMostFilmChanges);
    auto next = kept.begin();
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const FilmChange& change = changes[i];
        std::map<int, int>& own = parts[change.track];
        const auto part = own.find(change.part);
        ++part->second;
        if (next == kept.end() || *next != i)
            continue;
        ++next;
        FigurePanel panel =
            layerGrid(*change.plan,
                      change.layers,
                      fmt::format("Set {}, {:.1f} s", part->second, change.plan->at));
        panel.group = change.track;
        if (own.size() > 1)
            panel.group += fmt::format(", part {}", std::distance(own.begin(), part) + 1);
        const double score = change.plan->score;
        panel.series.front().points.push_back(
            {change.plan->at, Estimate{score, {}, {}, score > 0.0 ? 1 : 0}});
        figure.panels.push_back(std::move(panel));
    }
    if (kept.size() < changes.size())
        figure.note += fmt::format("{}{} of {} changes are shown.",
                                   figure.note.empty() ? "" : " ",
                                   kept.size(),
                                   changes.size());
}

bool isFilm(const ResultFigure& figure) {
    return figure.kind == FigureKind::LayerGrids && !figure.panels.empty() &&
           std::all_of(figure.panels.begin(), figure.panels.end(), [](const FigurePanel& panel) {
               return panel.series.size() == 1 && panel.series.front().points.size() == 1;
           });
}

SetFilm setFilm(const ResultFigure& figure) {
    SetFilm film;
    std::map<std::string, std::size_t> tracks;
    std::vector<std::pair<std::size_t, std::size_t>> changes; // track and panel
    const std::size_t count = std::min(figure.panels.size(), kMostFilmChanges);
    for (std::size_t i = 0; i < count; ++i) {
        const std::string& name = figure.panels[i].group;
        auto track = tracks.find(name);
        if (track == tracks.end()) {
            if (film.tracks.size() == kMostTracks)
                continue;
            track = tracks.emplace(name, film.tracks.size()).first;
            film.tracks.push_back({name, i});
        }
        changes.emplace_back(track->second, i);
    }
    const auto secondsOf = [&](const std::pair<std::size_t, std::size_t>& change) {
        return figure.panels[change.second].series.front().points.front().x;
    };
    std::stable_sort(changes.begin(), changes.end(), [&](const auto& a, const auto& b) {
        return secondsOf(a) < secondsOf(b);
    });
    std::vector<std::optional<std::size_t>> shown(film.tracks.size());
    for (const auto& change : changes) {
        shown[change.first] = change.second;
        film.moments.push_back({secondsOf(change), shown});
    }
    return film;
}

ResultFigure filmMoment(const ResultFigure& figure, const SetFilm& film, std::size_t moment) {
    ResultFigure still;
    still.id = figure.id;
    still.title = figure.title;
    still.kind = figure.kind;
    still.x = figure.x;
    still.y = figure.y;
    for (std::size_t i = 0; i < film.tracks.size(); ++i) {
        const SetFilm::Track& track = film.tracks[i];
        const std::optional<std::size_t>& shown = film.moments.at(moment).panels[i];
        FigurePanel panel = figure.panels[shown.value_or(track.first)];
        if (!shown) {
            panel.title = "no set yet";
            panel.series.front().name = "nothing is skipped";
            for (auto& row : panel.cells) {
                for (Estimate& cell : row)
                    cell.value = 0.0;
            }
        }
        panel.title = withTrack(track.name, panel.title);
        panel.series.front().points.clear();
        still.panels.push_back(std::move(panel));
    }
    return still;
}

ResultFigure filmStrip(const ResultFigure& figure, std::size_t most) {
    const bool hasSeveral =
        std::any_of(figure.panels.begin(), figure.panels.end(), [&](const FigurePanel& panel) {
            return panel.group != figure.panels.front().group;
        });
    ResultFigure strip;
    strip.id = figure.id;
    strip.title = figure.title;
    strip.kind = figure.kind;
    strip.x = figure.x;
    strip.y = figure.y;
    for (const std::size_t place : evenPlaces(figure.panels.size(), most)) {
        strip.panels.push_back(figure.panels[place]);
        FigurePanel& panel = strip.panels.back();
        if (hasSeveral)
            panel.title = withTrack(panel.group, panel.title);
    }
    return strip;
}

std::vector<Drawing> filmFrames(const ResultFigure& figure, const FigureCanvas& canvas) {
    const SetFilm film = setFilm(figure);
    const std::string summary =
        fmt::format("{}: a film of {} changes.", figure.title, film.moments.size());
    std::size_t cells = 1;
    for (const SetFilm::Track& track : film.tracks) {
        for (const auto& row : figure.panels[track.first].cells)
            cells += row.size();
    }
    const std::size_t most = std::clamp(kMostFrameCells / cells, kLeastFrames, kMostFilmFrames);
    std::vector<Drawing> frames;
    for (const std::size_t moment : evenPlaces(film.moments.size(), most)) {
        frames.push_back(drawFigure(filmMoment(figure, film, moment), canvas));
        frames.back().summary = summary;
    }
    return frames;
}

int filmFrameMs(std::size_t frames) {
    constexpr int kWholeMs = 60'000;
    const int each = kWholeMs / std::max(1, static_cast<int>(std::min(frames, kMostFilmFrames)));
    return std::clamp(each, 250, 700);
}

} // namespace engine
