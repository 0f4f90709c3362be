// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/lists/queue_status.h"

#include "ui/shell/figure_text.h"
#include "ui/views/experiments/lists/job_list_model.h"

#include <algorithm>
#include <utility>

namespace ui {

QueueStatus::QueueStatus(const ExperimentQueue& queue, const RunWatcher& watcher, QObject* parent)
    : QObject(parent)
    , m_queue(queue)
    , m_watcher(watcher) {
    connect(&queue, &ExperimentQueue::changed, this, &QueueStatus::follow);
    connect(&watcher, &RunWatcher::pictureCame, this, &QueueStatus::changed);
}

void QueueStatus::follow() {
    const QString atWork = m_queue.current() != nullptr ? m_queue.current()->id : QString();
    const QString before = std::exchange(m_atWork, atWork);
    const ExperimentJob* ended = before != atWork ? m_queue.job(before) : nullptr;
    if (ended != nullptr && ended->isOver())
        m_unseen = before;
    emit changed();
}

void QueueStatus::setSeen(const QString& id) {
    if (id.isEmpty() || id != m_unseen)
        return;
    m_unseen.clear();
    emit changed();
}

const ExperimentJob* QueueStatus::told() const {
    const ExperimentJob* current = m_queue.current();
    return current != nullptr ? current : m_queue.job(m_unseen);
}

QString QueueStatus::id() const { return told() != nullptr ? told()->id : QString(); }

WorkNote QueueStatus::note() const {
    const auto waiting =
        std::ranges::count(m_queue.jobs(), JobState::Waiting, &ExperimentJob::state);
    const QString waits =
        waiting > 0 ? countText(waiting, tr("1 experiment waits"), tr("%1 experiments wait"))
                    : QString();
    const ExperimentJob* job = told();
    if (job == nullptr)
        return {{}, waits, false};
    QString state = jobText(*job, m_watcher.picture(job->folder).get());
    if (!job->outcome.isEmpty())
        state += QStringLiteral(": ") + job->outcome;
    if (waiting > 0)
        state += QStringLiteral(" \u00B7 ") + waits;
    return {job->title, state, job->state == JobState::Failed};
}

} // namespace ui
