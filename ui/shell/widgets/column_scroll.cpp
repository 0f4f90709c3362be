// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/widgets/column_scroll.h"

#include <QKeyEvent>
#include <QScrollBar>

#include <algorithm>

namespace ui {

ColumnScroll::ColumnScroll(QWidget* parent)
    : QScrollArea(parent) {
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
}

QSize ColumnScroll::minimumSizeHint() const {
    const QSize least = QScrollArea::minimumSizeHint();
    if (widget() == nullptr)
        return least;
    const int column =
        widget()->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width();
    return {std::max(least.width(), column), least.height()};
}

void ColumnScroll::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right)
        event->ignore();
    else
        QScrollArea::keyPressEvent(event);
}

bool ColumnScroll::eventFilter(QObject* watched, QEvent* event) {
    if (watched == widget() && event->type() == QEvent::LayoutRequest)
        updateGeometry();
    return QScrollArea::eventFilter(watched, event);
}

} // namespace ui
