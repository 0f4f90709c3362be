// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/export/film.h"
#include "ui/theme/theme.h"
#include "ui/views/learn/slow_motion/walk_scene.h"

#include <QWidget>

#include <memory>
#include <vector>

class QLabel;

namespace ui {

class ScenePicture;
class StopCaret;

/// A round in slow motion as a film: every stop moves and then rests, as on the screen at speed 1.
/// Text grows with the width, so that a film of any size looks the same. Thread: UI.
class WalkFilm : public Film {
public:
    /// Milliseconds between two pictures of a movement.
    static constexpr int kFrameMs = 100;

    /// `round` counts from 0. It has the look that the theme has now.
    WalkFilm(const Theme& theme, engine::RoundWalk walk, int round, int width);
    ~WalkFilm() override;

    QString title() const override;
    QString fileName() const override;
    int frameCount() const override;
    FilmFrame frame(int index) override;

    /// The stop and the share of its movement that a picture shows.
    std::pair<int, double> momentOf(int index) const;

private:
    void build(int width);

    int framesOfStop() const { return m_moves + 1; }

    Theme m_theme;
    WalkScene m_scene;
    int m_round;
    int m_moves;                     ///< pictures of a stop's movement; 0 without motion
    std::unique_ptr<QWidget> m_page; ///< never shown
    StopCaret* m_caret = nullptr;
    QLabel* m_sentence = nullptr;
    std::vector<ScenePicture*> m_pictures;
};

} // namespace ui
