// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/learn/rounds/round_walk.h"

#include <QString>

#include <vector>

namespace ui {

/// A depth of the draft, as the tree shows it. A plain value.
struct SceneDepth {
    int firstChoice = -1;          ///< row of the walk; -1 = the first choices do not reach it
    std::vector<int> alternatives; ///< rows, the accepted one first
    int asked = -1; ///< the row behind which the full model chose for this depth; -1 = none
};

/// What is to be seen of a round at a moment of the walk. Every picture is made from this alone, so
/// that going back shows what was there before. A plain value.
struct WalkScene {
    engine::RoundWalk walk;
    int stop = 0;      ///< index into walk.stops
    double part = 1.0; ///< of the stop's movement that is done, 0 to 1

    engine::RoundStop current() const { return walk.stops[static_cast<std::size_t>(stop)]; }

    /// How much of a stop has been shown: 0 before it, 1 behind it.
    double shown(engine::RoundStop of) const;

    /// The same as a number of things out of so many, beginning with the first at once.
    int shownOf(engine::RoundStop of, int count) const;

    /// The layer that the running pass has reached, from 0; -1 while none runs or all have run.
    int runningLayer() const;

    /// From the first depth on; one more than the draft is deep if the full model's own token
    /// stands behind it.
    std::vector<SceneDepth> depths() const;

    int alternativeCount() const;

    /// Its place among the draft's choices behind the same row, from 1: the 3 of "k3".
    int choiceNumber(int row) const;

    /// Whether it is known by now what the full model has behind a row.
    bool showsChoice(int row) const;

    /// Whether a row is known to be accepted, or to be thrown away, by now.
    bool isKept(int row) const;
    bool isGone(int row) const;
};

/// A row's token, readable; "#12" where the recording has no text. The root may be empty.
QString rowText(const engine::RoundWalk& walk, int row);

QString choiceText(const engine::TokenChoice& choice);

} // namespace ui
