// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/runs/run_picture.h"

#include <QHash>
#include <QObject>
#include <QStringList>
#include <QThreadPool>
#include <QTimer>

namespace ui {

/// Looks into run folders, those at work again and again, on a thread of its own. Thread: UI.
class RunWatcher : public QObject {
    Q_OBJECT

public:
    static constexpr int kPeriodMs = 700;

    explicit RunWatcher(QObject* parent = nullptr);
    ~RunWatcher() override;

    /// The folders that are read every period from now on.
    void setAtWork(const QStringList& folders);

    /// Reads a folder once more.
    void look(const QString& folder);

    /// Reads what a run has kept of a prompt, numbered from 1.
    void readAnswers(const QString& folder, int prompt);

    /// What was read last; null if nothing was.
    RunPicturePtr picture(const QString& folder) const { return m_pictures.value(folder); }

signals:
    void pictureCame(const ui::RunPicturePtr& picture);
    void answersCame(const ui::AnswersPicturePtr& picture);

private:
    std::shared_ptr<RunReader> readerOf(const QString& folder);

    QThreadPool m_thread{this};
    QTimer m_timer;
    QStringList m_atWork;
    QHash<QString, std::shared_ptr<RunReader>> m_readers; ///< each used by the thread alone
    QHash<QString, RunPicturePtr> m_pictures;
    QStringList m_asked; ///< folders whose reading has not ended
};

} // namespace ui
