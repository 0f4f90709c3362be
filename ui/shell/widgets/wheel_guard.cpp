// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/widgets/wheel_guard.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QEvent>
#include <QScrollArea>
#include <QSlider>

namespace ui {

namespace {

/// A number's line edit is a child of its spin box, so the parents are checked too.
bool isControlInScrollArea(const QObject* watched) {
    bool isControl = false;
    for (const auto* widget = qobject_cast<const QWidget*>(watched); widget != nullptr;
         widget = widget->parentWidget()) {
        isControl = isControl || qobject_cast<const QComboBox*>(widget) != nullptr ||
                    qobject_cast<const QAbstractSpinBox*>(widget) != nullptr ||
                    qobject_cast<const QSlider*>(widget) != nullptr;
        if (widget->isWindow()) // also the list that a box opens
            return false;
        if (qobject_cast<const QScrollArea*>(widget) != nullptr)
            return isControl;
    }
    return false;
}

} // namespace

WheelGuard::WheelGuard(QObject* parent)
    : QObject(parent) {
    qApp->installEventFilter(this);
}

bool WheelGuard::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::Wheel || !isControlInScrollArea(watched))
        return false;
    event->ignore(); // so that Qt hands it on to the parent
    return true;
}

} // namespace ui
