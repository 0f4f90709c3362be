// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QObject>

namespace ui {

/// The wheel scrolls what can be scrolled, and never changes a control that the pointer happens to
/// cross: boxes, numbers and sliders within a scroll area leave it to the area. Thread: UI.
class WheelGuard : public QObject {
    Q_OBJECT

public:
    /// Watches the whole program.
    explicit WheelGuard(QObject* parent = nullptr);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
};

} // namespace ui
