// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/reading_order.h"

#include <QAbstractButton>
#include <QApplication>
#include <QScrollArea>

#include <algorithm>

namespace ui {

namespace {

/// A dock behind another one is visible for Qt, and moved to a place where nobody sees it.
bool hasPlace(const QWidget& widget) {
    return widget.isVisible() && !widget.isWindow() &&
           widget.parentWidget()->rect().intersects(widget.geometry());
}

bool isChecked(const QAbstractButton* button) {
    return button->autoExclusive() && button->isChecked() && button->isEnabled();
}

/// Of buttons that exclude each other, the checked one is the stop; the arrow keys choose another.
bool takesTab(const QWidget& widget) {
    if (widget.focusProxy() != nullptr || !widget.isEnabled())
        return false;
    if (&widget == QApplication::focusWidget())
        return true;
    const auto* button = qobject_cast<const QAbstractButton*>(&widget);
    if (button != nullptr && button->autoExclusive()) {
        const auto group = button->parentWidget()->findChildren<QAbstractButton*>(
            QString(), Qt::FindDirectChildrenOnly);
        if (std::ranges::any_of(group, isChecked))
            return isChecked(button);
    }
    return (widget.focusPolicy() & Qt::TabFocus) != 0;
}

/// Row by row. Those whose tops are above the middle of the row's first one stand beside it.
std::vector<QWidget*> childrenInOrder(const QWidget& parent) {
    std::vector<QWidget*> children;
    for (QObject* child : parent.children())
        if (auto* widget = qobject_cast<QWidget*>(child); widget != nullptr && hasPlace(*widget))
            children.push_back(widget);
    std::ranges::stable_sort(children, {}, &QWidget::y);
    for (auto row = children.begin(); row != children.end();) {
        const int middle = (*row)->geometry().center().y();
        const auto end = std::find_if(
            row + 1, children.end(), [&](const QWidget* widget) { return widget->y() >= middle; });
        std::stable_sort(row, end, [](const QWidget* a, const QWidget* b) {
            return a->x() != b->x() ? a->x() < b->x() : a->y() < b->y();
        });
        row = end;
    }
    return children;
}

void collect(QWidget& widget, std::vector<QWidget*>& found) {
    if (takesTab(widget))
        found.push_back(&widget);
    for (QWidget* child : childrenInOrder(widget))
        collect(*child, found);
}

} // namespace

std::vector<QWidget*> inReadingOrder(QWidget& root) {
    std::vector<QWidget*> found;
    collect(root, found);
    return found;
}

bool moveFocus(QWidget& root, bool isForward) {
    const std::vector<QWidget*> stops = inReadingOrder(root);
    if (stops.empty())
        return false;
    const auto count = static_cast<std::ptrdiff_t>(stops.size());
    const auto now = std::ranges::find(stops, QApplication::focusWidget()) - stops.begin();
    const std::ptrdiff_t place =
        now == count ? (isForward ? 0 : count - 1) : (now + (isForward ? 1 : count - 1)) % count;
    QWidget* next = stops[static_cast<std::size_t>(place)];
    next->setFocus(isForward ? Qt::TabFocusReason : Qt::BacktabFocusReason);
    for (QWidget* outer = next->parentWidget(); outer != nullptr; outer = outer->parentWidget())
        if (auto* scroll = qobject_cast<QScrollArea*>(outer))
            scroll->ensureWidgetVisible(next);
    return true;
}

} // namespace ui
