// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QDateTime>
#include <QJsonObject>
#include <QString>
#include <QStringList>

#include <optional>

namespace ui {

enum class JobState {
    Waiting, ///< for its turn
    Running,
    Paused,  ///< its process waits
    Stopped, ///< can be resumed where it was
    Finished,
    Failed, ///< `sentence` says why; can be resumed, too
};

/// What the process of an experiment has noted since it began.
struct JobNotes {
    QString newest;
    int count = 0;

    bool operator==(const JobNotes&) const = default;
};

/// An experiment of the queue. A plain value.
struct ExperimentJob {
    QString id;     ///< unique in the queue
    QString title;  ///< "Main comparison, Quick"
    QString recipe; ///< a recipe's name, or the path of a .swiftexp file
    QString source; ///< path of the recipe in the list of recipes; empty = none
    QString folder; ///< where the run lies
    QStringList
        arguments; ///< of `swift-run experiment`, without recipe, --out, --resume, --control
    JobState state = JobState::Waiting;
    bool isStopping = false; ///< it stops after its current pass; not kept on the disk
    QString sentence;        ///< the error with which it ended
    QDateTime endedAt;       ///< UTC
    QString outcome;         ///< the one thing to know once it is finished: "1.27×", "no gain"
    bool isGain = true;      ///< whether the outcome is one
    JobNotes notes;          ///< not kept on the disk
    QString movedModel;      ///< where its model is now, for the next start; not kept on the disk

    bool isAtWork() const { return state == JobState::Running || state == JobState::Paused; }

    bool isOver() const { return state == JobState::Finished || state == JobState::Failed; }

    bool isOnCluster() const { return arguments.contains(QStringLiteral("slurm")); }

    bool operator==(const ExperimentJob&) const = default;
};

QJsonObject toJson(const ExperimentJob& job);

/// None if it lacks what a job needs.
std::optional<ExperimentJob> jobFrom(const QJsonObject& object);

} // namespace ui
