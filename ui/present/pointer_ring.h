// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

namespace ui {

/// A ring around the pointer for an audience; filled while a button is pressed. It takes no clicks.
/// Thread: UI.
class PointerRing : public QWidget {
    Q_OBJECT

public:
    PointerRing(const Theme& theme, QWidget* window);

    /// Shows it from now on, wherever the pointer is.
    void start();

    /// The pointer is here, in the window's coordinates; outside the window there is no ring.
    void moveTo(QPoint place, bool isPressed);

    bool isPressed() const { return m_isPressed; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const Theme& m_theme;
    bool m_isPressed = false;
};

} // namespace ui
