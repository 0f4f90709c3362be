// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/report/film/set_film.h"
#include "ui/export/film.h"
#include "ui/plots/picture_file.h"
#include "ui/theme/theme.h"

#include <vector>

namespace ui {

/// The changes of the sets of a result, one picture each. Text grows with the width. Thread: UI.
class ResultFilm : public Film {
public:
    /// `figure` is a film. Keeps the look that the theme has now.
    ResultFilm(const Theme& theme, engine::ResultFigure figure, int width);

    QString title() const override;

    QString fileName() const override;

    int frameCount() const override { return static_cast<int>(m_moments.size()); }

    FilmFrame frame(int index) override;

private:
    engine::Drawing draw(std::size_t moment) const;

    Theme m_theme;
    engine::ResultFigure m_figure;
    engine::SetFilm m_film;
    std::vector<std::size_t> m_moments; ///< [frames]
    QSize m_size;
};

/// All changes of a film, at most engine::kMostFilmChanges, in one picture, each below its name, in
/// rows. Thread: UI.
class FilmStrip : public PictureSource {
public:
    /// The theme must live longer.
    FilmStrip(const Theme& theme, const engine::ResultFigure& figure);

    FigureTable table() const override { return {}; }

    QSize pictureSize() const override;
    void drawPicture(QPaintDevice& device, QSize size) override;

    /// The finest in which programs open it without trouble, at most 2.
    double scale() const;

private:
    const Theme& m_theme;
    engine::Drawing m_drawing;
};

} // namespace ui
