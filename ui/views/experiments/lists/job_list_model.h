// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/queue/experiment_queue.h"
#include "ui/experiments/runs/run_watcher.h"

#include <QAbstractListModel>

#include <vector>

namespace ui {

/// How far a run is, in words: "prompt 113 of 180 · 5 min left"; where samples or searches take
/// their time, too, "step 312 of 1,704".
QString progressText(const RunPicture& picture);

/// How an experiment stands: "prompt 113 of 180 · 5 min left", "paused at prompt 3 of 40",
/// "failed". `picture` may be null.
QString jobText(const ExperimentJob& job, const RunPicture* picture);

/// The share of the run that is done, 0 to 1; none before it is known.
std::optional<double> progressShare(const RunPicture& picture);

/// What a run has found, as briefly as a row has room: the number of its verdict, or "no gain";
/// empty if its verdict has no number. It must have a result.
QString outcomeText(const RunPicture& picture);

/// "12 min", "3 h 20 min", see engine::durationWords().
QString durationText(double seconds);

/// The queue as a list in three sections: what is at work, what waits, what is over. Follows the
/// queue and the run folders by itself. Thread: UI.
class JobListModel : public QAbstractListModel {
    Q_OBJECT

public:
    enum Role {
        IdRole = Qt::UserRole,
        SubtitleRole,         ///< one muted line
        SectionRole,          ///< "Running", "Waiting", "Finished"
        IsFirstOfSectionRole, ///< whether the section's name is above this row
        OutcomeRole,          ///< the one thing to know, at the right: "63 %", "1.27×", "no gain"
        ToneRole,             ///< Tone of it
        ShareRole,            ///< of a job at work: what is done, 0 to 1; else invalid
    };

    enum class Tone { Plain, Accent, Warning, Error };

    JobListModel(const ExperimentQueue& queue,
                 const RunWatcher& watcher,
                 QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

    QString idAt(const QModelIndex& index) const { return index.data(IdRole).toString(); }

    /// Invalid for a job that is not there.
    QModelIndex indexOf(const QString& id) const;

private:
    void update();
    QString subtitleOf(const ExperimentJob& job) const;
    std::pair<QString, Tone> outcomeOf(const ExperimentJob& job) const;

    const ExperimentQueue& m_queue;
    const RunWatcher& m_watcher;
    std::vector<ExperimentJob> m_rows;
};

} // namespace ui
