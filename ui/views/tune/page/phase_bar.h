// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

#include <vector>

class QBoxLayout;
class QHBoxLayout;
class QProgressBar;

namespace ui {

class LiveLabel;
class TuningSession;
struct TuningRun;

/// The phases of a training and its comparison side by side: what is done, what is at work, and how
/// long it takes. Thread: UI.
class PhaseBar : public QWidget {
    Q_OBJECT

public:
    explicit PhaseBar(const Theme& theme, QWidget* parent = nullptr);

    void showSession(const TuningSession& session);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    enum class Stage { Ahead, Now, Done };

    struct Phase {
        QString name;
        LiveLabel* title;
        LiveLabel* words;
        QProgressBar* bar;
        QBoxLayout* head; ///< title and words
        Stage stage = Stage::Ahead;
    };

    void add(const QString& name, int share);
    void showPhase(Phase& phase, Stage stage, double part, const QString& words);
    void showCheck(const TuningRun& run);
    void colourBar(const Phase& phase);
    void arrange();
    void restyle();

    const Theme& m_theme;
    QHBoxLayout* m_row;
    std::vector<Phase> m_phases; ///< collecting, training, comparing or checking
};

} // namespace ui
