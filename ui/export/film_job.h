// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/export/film.h"
#include "ui/export/film_target.h"

#include <QObject>

#include <memory>

namespace ui {

/// Draws a film and writes it, one picture a step, so that the window goes on working. Whoever owns
/// it calls step(), for example with the bridge's ticks. Thread: UI.
class FilmJob : public QObject {
    Q_OBJECT

public:
    FilmJob(std::unique_ptr<Film> film, std::unique_ptr<FilmTarget> target);

    /// Draws the next picture; after the last one the film is finished.
    void step();

    int frameCount() const { return m_film->frameCount(); }

    bool isOver() const { return m_isOver; }

signals:
    void progressed(int done, int count);

    /// It is over: `problem` is a sentence for the user, empty when the film is there.
    void finished(const QString& problem);

private:
    void end(const QString& problem);

    std::unique_ptr<Film> m_film;
    std::unique_ptr<FilmTarget> m_target;
    int m_next = 0;
    bool m_hasBegun = false;
    bool m_isOver = false;
};

} // namespace ui
