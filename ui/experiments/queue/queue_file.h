// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/queue/experiment_job.h"

#include <QObject>
#include <QThreadPool>

#include <vector>

namespace ui {

/// The queue of experiments on disk: one JSON file, replaced as a whole. Thread: UI; it is written
/// on a thread of its own, because a disk may be slow.
class QueueFile : public QObject {
    Q_OBJECT

public:
    struct Content {
        std::vector<ExperimentJob> jobs;
        bool isGoing = false; ///< the next job is taken up by itself
    };

    /// An empty path: nothing is kept.
    explicit QueueFile(QString path, QObject* parent = nullptr);

    /// Waits until everything is written.
    ~QueueFile() override;

    /// A file that cannot be read is kept aside under another name; see problem().
    Content read();

    /// What was wrong with the file that was read; empty = nothing.
    const QString& problem() const { return m_problem; }

    void write(const Content& content);

signals:
    /// It could not be written; what the queue does goes on.
    void failed(const QString& sentence);

private:
    QString m_path;
    QString m_problem;
    QThreadPool m_thread{this};
};

} // namespace ui
