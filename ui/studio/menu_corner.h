// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

class QHBoxLayout;
class QMenuBar;
class QPushButton;

namespace ui {

/// The right end of the menu bar: the model, and the button of the command search. Where the window
/// is too narrow for all, the button shows its icon alone, because a menu that does not fit would
/// leave the bar.
class MenuCorner : public QWidget {
    Q_OBJECT

public:
    /// `chooser` names the model; it becomes a child.
    MenuCorner(const Theme& theme, QWidget* chooser, QMenuBar& menus);

signals:
    void searchAsked();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void restyle();
    void fit();
    int menusWidth() const;

    const Theme& m_theme;
    QMenuBar& m_menus;
    QHBoxLayout* m_row;
    QPushButton* m_search;
};

} // namespace ui
