// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QObject>

namespace ui {

/// Keeps the wheel from changing a control that the pointer happens to cross: combo boxes, spin
/// boxes and sliders in a scroll area leave the wheel to the area. Thread: UI.
class WheelGuard : public QObject {
    Q_OBJECT

public:
    /// Filters the events of the whole program.
    explicit WheelGuard(QObject* parent = nullptr);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
};

} // namespace ui
