// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/report/film/set_film.h"
#include "ui/views/experiments/report/figure_view.h"

class QLabel;
class QPushButton;

namespace ui {

class ColumnSlider;
class LiveLabel;
class TransportButton;

/// Below a figure that is a film: chooses the moment that the figure shows, plays it, and saves it
/// as one picture or as an animation, an animated PNG: Qt writes it without a further library,
/// browsers and presentations play it, any other program shows its first picture, and unlike a
/// document it can carry nothing but pixels. Thread: UI.
class FilmBar : public QWidget {
    Q_OBJECT

public:
    /// Ticks of the bridge that a change stays while playing; the second where motion is reduced.
    static constexpr int kTicksPerChange = 12;
    static constexpr int kTicksWithoutMotion = 45;

    /// The view lives as long.
    FilmBar(const ViewContext& context, FigureView& view, QWidget* parent = nullptr);

    ColumnSlider& slider() { return *m_slider; }

    /// Has the ways to save it in its menu.
    QPushButton& saveButton() { return *m_save; }

    bool isPlaying() const { return m_isPlaying; }

    /// Plays on from the change shown, or from the first one if that is the last.
    void setPlaying(bool isPlaying);

    /// What is shown.
    QString sentence() const;

    /// Writes all changes as one picture, and says below what became of it.
    void saveStrip(const QString& path);

    /// What became of it; empty before.
    QString outcome() const;

private:
    void build();
    void addSaves();
    void restyle();
    void takeFigure();
    void goTo(int place);
    void playOn();
    void askForStrip();
    void showDialog();
    QString momentWords() const;
    QString setWords(std::size_t track) const;

    int count() const { return static_cast<int>(m_film.moments.size()); }

    ViewContext m_context;
    FigureView& m_view;
    engine::SetFilm m_film;
    int m_place = 0;
    TransportButton* m_previous = nullptr;
    TransportButton* m_play = nullptr;
    TransportButton* m_next = nullptr;
    ColumnSlider* m_slider = nullptr;
    LiveLabel* m_words = nullptr;
    QPushButton* m_save = nullptr;
    QLabel* m_outcome = nullptr;
    bool m_isPlaying = false;
    int m_ticks = 0;
};

} // namespace ui
