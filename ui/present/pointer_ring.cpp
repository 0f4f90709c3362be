// SPDX-License-Identifier: GPL-3.0-only
#include "ui/present/pointer_ring.h"

#include <QPainter>

namespace ui {

PointerRing::PointerRing(const Theme& theme, QWidget* window)
    : QWidget(window)
    , m_theme(theme) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAccessibleName(tr("Pointer highlight"));
    setFocusPolicy(Qt::NoFocus);
    hide();
}

void PointerRing::start() {
    const int side = m_theme.scaled(44);
    resize(side, side);
}

void PointerRing::moveTo(QPoint place, bool isPressed) {
    const bool isInside = parentWidget()->rect().contains(place);
    setVisible(isInside);
    if (!isInside)
        return;
    const QPoint corner = place - rect().center();
    if (corner != pos())
        move(corner);
    raise(); // above what was opened since
    if (isPressed != m_isPressed)
        update();
    m_isPressed = isPressed;
}

void PointerRing::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor fill = m_theme.colours().flashLine;
    fill.setAlphaF(m_isPressed ? 0.45F : 0.12F);
    const double pen = m_theme.scaled(3);
    const QRectF ring = QRectF(rect()).adjusted(pen, pen, -pen, -pen);
    painter.setBrush(fill);
    // Two colours, so that it is seen on every ground.
    painter.setPen(QPen(m_theme.colours().panel, pen + 2.0));
    painter.drawEllipse(ring);
    painter.setPen(QPen(m_theme.colours().flashLine, pen));
    painter.setBrush(Qt::NoBrush);
    painter.drawEllipse(ring);
}

} // namespace ui
