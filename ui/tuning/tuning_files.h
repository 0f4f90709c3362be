// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/tuning/tuning_choice.h"
#include "ui/tuning/tuning_run.h"

#include <QLockFile>
#include <QObject>
#include <QThreadPool>

#include <functional>
#include <memory>
#include <optional>

namespace ui {

enum class TuningState {
    None, ///< nothing was trained for this model yet
    Running,
    Paused, ///< by the user; the process waits
    Stopping,
    Stopped, ///< can go on where it was
    Failed,  ///< a sentence says why; can go on if something was stored
    Finished,
};

/// A training as it is kept beside its result.
struct KeptTuning {
    TuningChoice choice;
    TuningState state = TuningState::None;
    QString sentence;    ///< why it failed
    QString fingerprint; ///< of the model; empty until the process has told it
};

/// What is kept, and what the process has told of it so far.
struct StoredTuning {
    KeptTuning kept; ///< TuningState::None: nothing is kept
    TuningRun run;
    QByteArray record = {}; ///< the file that says so
};

/// The folder of a model's training: what it was told and how it stands (run.json), what it said
/// (events.jsonl), and its result. Thread: UI; files are read and written on a thread of their own,
/// one after the other, because a disk may be slow.
class TuningFiles : public QObject {
    Q_OBJECT

public:
    explicit TuningFiles(QObject* parent = nullptr);

    /// Waits until everything is written.
    ~TuningFiles() override;

    /// Below `root`, of its own for each model and recipe: named by the model's fingerprint, so
    /// that the training is found wherever the model lies. Where an earlier version has kept one of
    /// this model under the hash of a path, that place. Nothing is made; an empty root: nothing is
    /// kept.
    void setPlace(const QString& root,
                  const TuningModel& model,
                  TuningRecipe recipe = TuningRecipe::Draft);

    /// Whether a training is kept there.
    static bool isKept(const QString& root, const TuningModel& model, TuningRecipe recipe);

    const QString& folder() const { return m_folder; }

    QString adapter() const { return m_folder + QStringLiteral("/adapter.safetensors"); }

    /// The folder is this window's alone until it is released, or the program ends. False if
    /// another window has it; one that cannot be locked is nobody's.
    bool take();

    void release() { m_lock.reset(); }

    /// Whether another window has written the record since it was read here.
    bool isOutdated() const;

    /// Whether a run that makes this file or folder can go on from what the command has stored.
    bool hasWork(const QString& output) const;

    /// Calls `done` later, if this object is still there. What was at work when it was written is
    /// Stopped. A damaged record gets another name, and that is told.
    void read(std::function<void(StoredTuning)> done);

    void write(const KeptTuning& kept);

    /// Behind what was said before, or in its place.
    void appendEvent(const QByteArray& line);
    void clearEvents();

    /// Calls `done` later with what `swift-run compare` said of the adapter, if this object is
    /// still there; empty = nothing is known.
    void readComparison(std::function<void(QByteArray)> done);
    void writeComparison(const QByteArray& lines);

    /// The user's questions that the training is to read; where there are none, there is no such
    /// file. Waits for the disk, as the program that reads them is started next. Returns an empty
    /// text, or what is wrong.
    QString writeChatPrompts(const QByteArray& lines);

    /// The questions that were written before get another name until it is known whether they are
    /// needed again, in place of those that were written since.
    void keepChatPrompts();
    void endChatPrompts(bool areNeeded);

signals:
    /// Something could not be read or written; what is at work goes on.
    void failed(const QString& sentence);

private:
    StoredTuning readFolder(const QString& folder);
    template <typename Task> void later(Task task);
    void tell(const QString& sentence);
    void tellOfTraining(const QString& path, const QString& problem);
    void tellOfComparison(const QString& path, const QString& problem);

    QString m_folder;                   ///< empty = nothing is kept
    const QByteArray m_window;          ///< tells this window's records from those of others
    std::optional<QByteArray> m_record; ///< as it was read; none = not read yet
    std::unique_ptr<QLockFile> m_lock;
    QThreadPool m_thread{this};
};

} // namespace ui
