// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QPushButton>

namespace ui {

/// Says how a presentation ends, and ends it when it is pressed. Shown for a moment, and again
/// while the pointer is at the window's upper edge. Thread: UI.
class WayOut : public QPushButton {
    Q_OBJECT

public:
    /// Ticks of the bridge that it stays.
    static constexpr int kTicks = 150;

    WayOut(const Theme& theme, QWidget* window);

    void start();

    /// A tick has passed; the pointer is here.
    void follow(QPoint pointer);

signals:
    void asked();

private:
    void place();

    const Theme& m_theme;
    int m_ticksLeft = 0;
};

} // namespace ui
