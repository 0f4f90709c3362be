// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/figures/draw_figure.h"
#include "engine/experiments/run/shard_result.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace engine {

// The changes of the best skip set while a search goes on, as a film.

/// A set that a search went over to.
struct FilmChange {
    std::string track; ///< whose search: "Summarization, SWIFT"
    int part = 0;      ///< of the run; each has a clock of its own
    const ShardPlan* plan = nullptr;
    int layers = 0; ///< of the model
};

/// More are not kept: those that are kept lie evenly between the first one and the last one.
inline constexpr std::size_t kMostFilmChanges = 1000;

/// More are not drawn one after the other.
inline constexpr std::size_t kMostFilmFrames = 240;

/// How long the last one stays.
inline constexpr int kFilmEndMs = 3000;

/// The layer grid of a set: attention above MLP, and below it how much is skipped.
FigurePanel layerGrid(const ShardPlan& plan, int layers, std::string title);

/// Makes a figure a film: a layer grid for each change, in the order of the changes. The one series
/// of a panel has one point: the seconds, and the score (a count of 0: not scored).
void fillFilm(ResultFigure& figure, std::span<const FilmChange> changes);

bool isFilm(const ResultFigure& figure);

/// What a film shows when. A plain value.
struct SetFilm {
    struct Track {
        std::string name;
        std::size_t first = 0; ///< panel of the figure
    };

    struct Moment {
        double at = 0.0; ///< seconds
        /// [tracks] the panel of the figure that is shown; none: no set yet.
        std::vector<std::optional<std::size_t>> panels;
    };

    std::vector<Track> tracks;
    std::vector<Moment> moments; ///< one for each change, in time
};

/// Of a figure that is a film, whoever made it: what would be too much is left out.
SetFilm setFilm(const ResultFigure& figure);

/// A layer grid for each track, as it is at this moment. All moments are drawn in the same size.
ResultFigure filmMoment(const ResultFigure& figure, const SetFilm& film, std::size_t moment);

/// At most so many of its changes, evenly chosen, all in one figure.
ResultFigure filmStrip(const ResultFigure& figure, std::size_t most);

/// So many places of 0 to `count` - 1, the first one and the last one among them.
std::vector<std::size_t> evenPlaces(std::size_t count, std::size_t most);

/// At most kMostFilmFrames moments, fewer of many layers and searches, each drawn as a whole.
std::vector<Drawing> filmFrames(const ResultFigure& figure, const FigureCanvas& canvas);

/// How long each of so many frames stays, but for the last one.
int filmFrameMs(std::size_t frames);

} // namespace engine
