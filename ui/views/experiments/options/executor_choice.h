// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QStringList>
#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;

namespace ui {

/// Where the parts of an experiment run: on this machine, or on a cluster, which can be chosen only
/// where Slurm's sbatch is installed. Thread: UI.
class ExecutorChoice : public QWidget {
    Q_OBJECT

public:
    explicit ExecutorChoice(const Theme& theme, QWidget* parent = nullptr);

    /// The arguments of `swift-run experiment`; none for this machine.
    QStringList arguments() const;

    /// Looks for sbatch in PATH.
    void lookForSlurm();

signals:
    void changed();

private:
    void showChoice();
    void restyle();

    const Theme& m_theme;
    QComboBox* m_place;
    QLineEdit* m_words; ///< arguments of sbatch
    QLabel* m_note;
    bool m_hasSlurm = false;
};

/// The arguments of sbatch that a person has typed, each as one word: "--time 2:00:00 -p cpu" is
/// --time=2:00:00 and -pcpu.
QStringList sbatchWords(const QString& text);

} // namespace ui
