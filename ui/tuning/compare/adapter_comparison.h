// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/tuning/compare/compared_prompts.h"
#include "ui/tuning/tuning_files.h"
#include "ui/tuning/tuning_process.h"

#include <QPointer>

namespace ui {

enum class ComparisonState {
    None,
    Running,
    Stopped, ///< by the user; what was measured before counts
    Failed,  ///< a sentence says why
    Done,
};

/// The comparison of a trained adapter with none, or of a copy of the model with the model, in a
/// process of its own. What it said is kept beside the training, as long as its result is the same.
/// Thread: UI; nothing waits.
class AdapterComparison : public QObject {
    Q_OBJECT

public:
    explicit AdapterComparison(QString program, QObject* parent = nullptr);

    /// A process that still runs is ended; what was measured is kept.
    ~AdapterComparison() override;

    /// Shows what was measured of the result of a training, if anything was, once that is read.
    /// What runs is stopped. `result`: the adapter, or the new model's folder; empty: there is
    /// none.
    void
    open(const QString& root, const TuningModel& model, TuningRecipe recipe, const QString& result);

    /// Ends what runs, and forgets what was measured.
    void forget();

    /// Places as for open().
    void start(const QString& root, const TuningChoice& choice, const QString& result);
    void stop();

    /// While an answer streams. Its own answers do not count the time.
    void setHeld(bool isHeld);

    /// Of what is compared.
    TuningRecipe recipe() const { return m_recipe; }

    ComparisonState state() const { return m_state; }

    const ComparedPrompts& prompts() const { return m_prompts; }

    /// Why it failed.
    const QString& sentence() const { return m_sentence; }

    bool isRunning() const { return m_process != nullptr; }

    /// Whether what was measured is still being read.
    bool isReading() const { return m_isReading; }

    bool isHeld() const { return m_isHeld && isRunning(); }

    /// Whether there are figures that nothing adds to any more.
    bool isMeasured() const { return !isRunning() && !m_prompts.prompts().empty(); }

    /// Of the process; 0 = none.
    qint64 processId() const { return m_process != nullptr ? m_process->id() : 0; }

signals:
    void changed();
    void faulted(const QString& sentence);

private:
    void begin(ComparisonState state);
    void takeStored(const QByteArray& stored);
    void takeLine(const QByteArray& line);
    void onEnded(TuningProcess::End end, const QString& words);
    void endProcess();
    QByteArray resultLine() const;

    QString m_program;
    TuningFiles m_files;
    TuningRecipe m_recipe = TuningRecipe::Draft;
    QString m_result;
    QPointer<TuningProcess> m_process;
    ComparisonState m_state = ComparisonState::None;
    ComparedPrompts m_prompts;
    QByteArray m_lines; ///< that told of answers
    QString m_sentence;
    QString m_error;  ///< that the program has told
    int m_number = 0; ///< of what is shown: what is read for something else comes too late
    bool m_isReading = false;
    bool m_isHeld = false;
};

} // namespace ui
