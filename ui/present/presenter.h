// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/main_window.h"

#include <QObject>

namespace ui {

class PointerRing;
class WayOut;

/// Shows the window to an audience: on the whole screen, in large type and high contrast, without
/// menus and status strip, with a ring around the pointer and larger buttons in Slow motion.
/// Everything goes on working, in every workspace and for the lessons beside it. Leaving it
/// restores theme and text size, unless the user has changed them meanwhile; nothing of its own is
/// kept in the settings. Thread: UI.
class Presenter : public QObject {
    Q_OBJECT

public:
    /// All of them outlive it.
    Presenter(MainWindow& window, Theme& theme, EngineBridge& bridge);

    bool isPresenting() const { return m_isPresenting; }

    void setPresenting(bool isPresenting);

    PointerRing& ring() { return *m_ring; }

    WayOut& wayOut() { return *m_wayOut; }

    /// The text size that a room can read on a screen of this height, at least the present one.
    static int textPercentFor(int screenHeight, int present);

signals:
    void presentingChanged(bool isPresenting);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void enter();
    void leave();
    void follow();

    MainWindow& m_window;
    Theme& m_theme;
    PointerRing* m_ring;
    WayOut* m_wayOut;
    bool m_isPresenting = false;
    ThemeChoice m_choice = ThemeChoice::System; ///< before
    int m_textPercent = 100;                    ///< before
    ThemeChoice m_ownChoice = ThemeChoice::System;
    int m_ownTextPercent = 100;
    Qt::WindowStates m_state = Qt::WindowNoState;
    QRect m_geometry;
};

} // namespace ui
