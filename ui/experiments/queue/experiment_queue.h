// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/queue/experiment_process.h"
#include "ui/experiments/queue/queue_file.h"

#include <QPointer>

#include <optional>
#include <vector>

namespace ui {

/// Where the queue finds its program and keeps its files, and what else the program has for
/// experiments.
struct ExperimentPlaces {
    QString program; ///< swift-run
    QString recipes; ///< folder of the shipped recipes
    QString folder;  ///< of the runs, each in a folder of its own, and of the queue's file; empty:
                     ///< nothing is kept and nothing runs
    QString examples = {}; ///< folder of the prompts that come with the program; empty: none do
};

/// An experiment that was taken off the list, and its place there.
struct RemovedJob {
    ExperimentJob job;
    std::ptrdiff_t place = 0;
};

/// Experiments in order, one at a time, each in a process of its own. The list is kept on disk with
/// every change; after a restart, whatever ended the program, the queue goes on if the user had it
/// going. Thread: UI; nothing waits.
class ExperimentQueue : public QObject {
    Q_OBJECT

public:
    explicit ExperimentQueue(const ExperimentPlaces& places, QObject* parent = nullptr);

    /// The experiment that runs stops after its current pass, and goes on at the next start.
    ~ExperimentQueue() override;

    /// Goes on where the queue was, if the user had it going.
    void begin();

    /// The one that was running when the program ended, until begin() or run(); null if none was.
    const ExperimentJob* interrupted() const;

    const std::vector<ExperimentJob>& jobs() const { return m_jobs; }

    /// Null if there is none with this id.
    const ExperimentJob* job(const QString& id) const;

    /// The one whose process is there; null if none is.
    const ExperimentJob* current() const;

    /// The file by which experiments and the chat take turns, see engine::TakeTurns.
    QString turnsFile() const { return m_places.folder + QStringLiteral("/turns"); }

    /// A new folder for a run of this name, as name and date; it is not made.
    QString folderFor(const QString& name) const;

    /// Appends it; `job.id` and an empty `job.folder` are filled in. Returns the id.
    QString add(ExperimentJob job);

    /// Starts it, or resumes what is paused or stopped, for which the folder of its run is enough;
    /// while another one is at work, it is the next one.
    void run(const QString& id);

    /// As run(), for a run whose model lies elsewhere now.
    void runWithModel(const QString& id, const QString& path);

    void pause(const QString& id);

    /// After its current pass, a second time at once; it can be resumed. The queue rests then.
    void stop(const QString& id);

    /// Takes it off the list, stopping it first; its folder stays. Returns what restore() needs;
    /// nothing if there is none with this id.
    std::optional<RemovedJob> remove(const QString& id);

    /// Puts it back where it was. What was at work then is stopped now and can be resumed.
    void restore(const RemovedJob& removed);

    /// Appends a copy with a folder of its own and runs it. Returns the copy's id.
    QString runAgain(const QString& id);

    /// What the finished run has found, for its row.
    void setOutcome(const QString& id, const QString& outcome, bool isGain);

    /// What was wrong with the file of the queue; empty = nothing.
    const QString& problem() const { return m_file.problem(); }

signals:
    /// Jobs were added, removed or changed.
    void changed();
    void faulted(const QString& sentence);

private:
    ExperimentJob* find(const QString& id);
    void startNext();
    void start(ExperimentJob& job);
    void onNoted(const QStringList& sentences);
    void onEnded(ExperimentProcess::End end, const QString& sentence);
    void keep();

    ExperimentPlaces m_places;
    QueueFile m_file;
    std::vector<ExperimentJob> m_jobs;
    QPointer<ExperimentProcess> m_process;
    QString m_currentId; ///< whose process is there; empty = none
    bool m_isGoing = false;
};

} // namespace ui
