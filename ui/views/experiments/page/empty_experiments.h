// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace ui {

/// The page before anything is chosen: the outline of a result, a sentence, and the way to begin.
/// Thread: UI.
class EmptyExperiments : public QWidget {
    Q_OBJECT

public:
    explicit EmptyExperiments(const Theme& theme, QWidget* parent = nullptr);

    QPushButton& mainButton() { return *m_open; }

signals:
    void openDataAsked();
    void recipesAsked();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void restyle();

    const Theme& m_theme;
    QWidget* m_outline;
    QLabel* m_title;
    QLabel* m_sentence;
    QPushButton* m_open;
    QPushButton* m_recipes;
};

} // namespace ui
