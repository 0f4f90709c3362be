// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/icons/icons.h"
#include "ui/theme/theme.h"

#include <QWidget>

#include <vector>

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace ui {

/// A page before there is anything to show: an outline of what will be there, a title, a sentence,
/// and the ways to begin. Thread: UI.
class EmptyPage : public QWidget {
    Q_OBJECT

public:
    /// The first one that was added.
    QPushButton& mainButton() { return *m_buttons.front().button; }

protected:
    /// Takes the outline.
    EmptyPage(const Theme& theme,
              QWidget* outline,
              const QString& title,
              const QString& sentence,
              QWidget* parent);

    /// The first one is filled.
    QPushButton* addButton(const QString& text, IconName icon);

    void paintEvent(QPaintEvent* event) override;

private:
    struct Button {
        QPushButton* button;
        IconName icon;
    };

    void restyle();

    const Theme& m_theme;
    QWidget* m_outline;
    QLabel* m_title;
    QLabel* m_sentence;
    QHBoxLayout* m_row;
    std::vector<Button> m_buttons;
};

} // namespace ui
