// SPDX-License-Identifier: GPL-3.0-only
#include "ui/export/film_job.h"

#include <utility>

namespace ui {

FilmJob::FilmJob(std::unique_ptr<Film> film, std::unique_ptr<FilmTarget> target)
    : m_film(std::move(film))
    , m_target(std::move(target)) {}

void FilmJob::step() {
    if (m_isOver)
        return;
    if (!std::exchange(m_hasBegun, true)) {
        const QString problem = frameCount() == 0 ? tr("There is nothing to show in this film yet.")
                                                  : m_target->begin();
        if (!problem.isEmpty())
            end(problem);
        return;
    }
    if (m_next == frameCount()) {
        end(m_target->finish());
        return;
    }
    const FilmFrame frame = m_film->frame(m_next);
    const QString problem = m_target->add(frame.picture, frame.milliseconds);
    if (!problem.isEmpty()) {
        end(problem);
        return;
    }
    ++m_next;
    emit progressed(m_next, frameCount());
}

void FilmJob::end(const QString& problem) {
    m_isOver = true;
    m_target.reset(); // what is unfinished goes
    emit finished(problem);
}

} // namespace ui
