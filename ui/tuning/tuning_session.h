// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/tuning/compare/adapter_comparison.h"
#include "ui/tuning/result/adapter_use.h"
#include "ui/tuning/tuning_files.h"
#include "ui/tuning/tuning_process.h"
#include "ui/tuning/tuning_run.h"

#include <QByteArrayList>
#include <QDateTime>
#include <QPointer>

namespace ui {

/// Where a training finds its program and keeps its files.
struct TuningPlaces {
    QString program;        ///< swift-run
    QString folder;         ///< of all trainings; empty: nothing is kept and nothing runs
    bool hasTrainer = true; ///< whether the program was built with what trains
    QString models;         ///< the folder in which a copy of a model is made by default
};

/// Why no training can begin.
enum class TuningObstacle { None, NoProgram, NoTrainer, NoModel, AtWork };

/// The training of a draft adapter or of a copy of the model: of the loaded model's, or of the one
/// at work. It runs in a
/// process of its own; what it was told, what it said and how it stands are on the disk, so that it
/// can go on after a restart. Thread: UI; nothing waits.
class TuningSession : public QObject {
    Q_OBJECT

public:
    explicit TuningSession(TuningPlaces places, QObject* parent = nullptr);

    /// What is at work saves what it has and can go on later.
    ~TuningSession() override;

    /// The model that was loaded; its training is shown, once it is read, unless another one is at
    /// work. None: no model is loaded, and what is shown stays.
    void setModel(const std::optional<TuningModel>& model);

    /// The training of the loaded model, in place of another one that has ended.
    void showLoadedModel();

    const std::optional<TuningModel>& model() const { return m_model; }

    /// What is to be trained: the training of this recipe is shown unless another one is at work. A
    /// comparison that runs goes on.
    void setRecipe(TuningRecipe recipe);

    TuningRecipe recipe() const { return m_recipe; }

    const TuningPlaces& places() const { return m_places; }

    TuningObstacle obstacle() const;

    /// Of the training that is shown; of what it was told, only the model has a meaning while there
    /// is none.
    TuningState state() const { return m_kept.state; }

    const TuningChoice& choice() const { return m_kept.choice; }

    const TuningRun& run() const { return m_run; }

    /// Whether it has come to an end with a result: also where its numbers were not finite any more
    /// and the best ones of before are the result.
    bool hasResult() const;

    /// Of the training that is shown; another one has another number.
    int number() const { return m_number; }

    /// Why it failed.
    const QString& sentence() const { return m_kept.sentence; }

    bool isAtWork() const { return m_process != nullptr; }

    /// Whether something of the training that is to be shown is still being read.
    bool isReading() const {
        return m_isReading || m_comparison->isReading() ||
               m_use->used() == AdapterUse::Used::Unknown;
    }

    /// Whether it waits for an answer of the chat.
    bool isHeld() const { return m_isHeld && m_kept.state == TuningState::Running; }

    /// Whether it was stopped, or failed, with something to go on from.
    bool canGoOn() const;

    /// Whether there is something to go on from.
    bool hasWork() const { return m_files.hasWork(output()); }

    /// When it was saved last in this session; invalid = not yet.
    const QDateTime& savedAt() const { return m_savedAt; }

    /// Where an adapter is kept, and what else is kept beside it.
    QString adapter() const { return m_files.adapter(); }

    /// Where the result lies, once there is one: the adapter or the new model's folder.
    QString output() const {
        return m_kept.choice.changesModel() ? m_kept.choice.output : m_files.adapter();
    }

    /// The folder of the new model that has come out, whatever its name; empty if there is none.
    QString newModel() const;

    /// The adapter that drafts for this model whenever it is loaded; empty until the training has
    /// told which model it is. The file need not exist.
    QString usedAdapter() const;

    /// What lies there.
    const AdapterUse& adapterUse() const { return *m_use; }

    bool isResultUsed() const { return m_use->used() == AdapterUse::Used::Result; }

    /// The best state of a training that has no result yet, if it lies there as an adapter that can
    /// be used; null if there is none.
    const TuningBest* halfTrained() const;

    /// Whether there is a trained or half-trained adapter that is not the used one.
    bool canUseResult() const;

    /// What a result was measured to give; none before.
    const AdapterComparison& comparison() const { return *m_comparison; }

    /// Whether that is of the recipe that is shown.
    bool isComparisonOwn() const { return m_comparison->recipe() == m_recipe; }

    /// Whether there is a result, and prompts of the user that it was not trained on.
    bool canCompare() const;

    /// Shows the earlier training that this choice would replace, if there is one that is not in
    /// sight. Returns whether there is.
    bool showEarlier(const TuningChoice& choice);

    /// The folder of the copy that is in sight, if it is one of this model and of the recipe: a new
    /// training may replace it. Empty: there is none.
    QString replacedOutput(const TuningModel& model) const;

    /// Begins anew: earlier work for this model is replaced once the program has begun. Where it
    /// ends before that, the training that was in sight is there again. `chatPrompts`: those of
    /// readChatPrompts(), if the user's chats are chosen.
    void start(const TuningChoice& choice, const QByteArray& chatPrompts = {});

    void pause();

    /// Behind pause(), or with the same options where it was stopped, killed or failed.
    void goOn();

    /// It saves what it has; a second call ends it at once.
    void stop();

    /// Measures the result on the user's prompts, anew if it was measured before.
    void compare();
    void stopComparing();

    /// While an answer streams, so that it has the processor for itself.
    void setHeld(bool isHeld);

    /// From the next load of the model on it drafts with the result, or with the best state while
    /// there is none, or without it again. An
    /// adapter that is not the result is never deleted. adapterUse() tells what became of it.
    void useResult();
    void removeUsedAdapter();

    /// Of the process; 0 = none.
    qint64 processId() const { return m_process != nullptr ? m_process->id() : 0; }

signals:
    /// It began, ended, told something or was told something.
    void changed();

    /// The program did not begin with a training, so the one of before is shown; or another window
    /// trains this model, or has trained it meanwhile, and what that one has kept is shown.
    void refused(const QString& sentence);
    void faulted(const QString& sentence);

private:
    /// What was in sight when a training was started.
    struct Earlier {
        KeptTuning kept;
        TuningRun run;
    };

    void onCompared();
    void openComparison();
    void keepLine(const QByteArray& line);
    void replaceEarlier();
    void takeEarlierBack(const QString& sentence);
    TuningObstacle lastingObstacle() const;
    bool takeFolder(const TuningModel& model);
    void followModel();
    void open(const TuningModel& model);
    void show(StoredTuning stored);
    QString usableAdapter() const;
    QString comparedResult() const;
    void lookAtUse();
    void launch(bool isResumed);
    void setState(TuningState state);
    void takeLine(const QByteArray& line);
    void onEnded(TuningProcess::End end, const QString& words);
    QString failureOf(TuningProcess::End end, const QString& words) const;
    void keepProgress();
    void holdOrLetGo();

    TuningPlaces m_places;
    TuningFiles m_files;
    AdapterComparison* m_comparison;
    AdapterUse* m_use;
    std::optional<TuningModel> m_model;
    TuningRecipe m_recipe = TuningRecipe::Draft;
    KeptTuning m_kept;
    TuningRun m_run;
    std::optional<Earlier> m_earlier; ///< until the program has begun
    QByteArrayList m_firstLines;      ///< that it has told before
    int m_number = 0;
    QByteArray m_progress; ///< the newest line that tells how far something is, not kept yet
    std::size_t m_progressKind = 0; ///< of what
    QDateTime m_savedAt;
    QPointer<TuningProcess> m_process;
    bool m_isReading = false;
    bool m_isKilled = false; ///< by the user
    bool m_isHeld = false;
};

} // namespace ui
