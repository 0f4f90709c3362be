// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/queue/experiment_queue.h"
#include "ui/experiments/runs/run_watcher.h"
#include "ui/shell/bars/work_link.h"

namespace ui {

/// What the queue does, in one line: the experiment at work, or else the one that has ended and
/// that nobody has looked at, or else how many wait. Thread: UI.
class QueueStatus : public QObject {
    Q_OBJECT

public:
    QueueStatus(const ExperimentQueue& queue, const RunWatcher& watcher, QObject* parent = nullptr);

    /// Without a title and a state: nothing to tell.
    WorkNote note() const;

    /// The experiment that the note is about; empty if it is about none.
    QString id() const;

    /// The user has this experiment before him.
    void setSeen(const QString& id);

signals:
    void changed();

private:
    void follow();
    const ExperimentJob* told() const;

    const ExperimentQueue& m_queue;
    const RunWatcher& m_watcher;
    QString m_atWork; ///< id
    QString m_unseen; ///< id of the one that has ended last
};

} // namespace ui
