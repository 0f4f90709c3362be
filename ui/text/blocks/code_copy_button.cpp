// SPDX-License-Identifier: GPL-3.0-only
#include "ui/text/blocks/code_copy_button.h"

#include <QFontMetrics>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>

namespace ui {

CodeCopyButton::CodeCopyButton(const Theme& theme, QWidget* parent)
    : QAbstractButton(parent)
    , m_theme(theme) {
    setText(tr("Copy"));
    setCursor(Qt::ArrowCursor);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_Hover);
}

void CodeCopyButton::setCopied(bool isCopied) {
    if (isCopied == m_isCopied)
        return;
    m_isCopied = isCopied;
    setText(isCopied ? tr("Copied") : tr("Copy"));
    update();
}

QSize CodeCopyButton::sizeHint() const {
    const QFontMetrics metrics(m_theme.font(TextRole::Interface));
    const int words =
        std::max(metrics.horizontalAdvance(tr("Copy")), metrics.horizontalAdvance(tr("Copied")));
    return {words + m_theme.scaled(36), m_theme.scaled(22)};
}

void CodeCopyButton::paintEvent(QPaintEvent*) {
    const Colours& colours = m_theme.colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF area = QRectF(rect()).adjusted(1, 1, -1, -1);
    const double radius = m_theme.scaled(4);
    painter.setPen(hasFocus() ? QPen(colours.focus, 2) : QPen(Qt::NoPen));
    painter.setBrush(isDown()       ? QBrush(colours.selection)
                     : underMouse() ? QBrush(colours.hover)
                                    : QBrush(Qt::NoBrush));
    painter.drawRoundedRect(area, radius, radius);
    painter.setFont(m_theme.font(TextRole::Interface));
    // The text ends where the code's text ends; the icon is before it.
    const int side = m_theme.scaled(6);
    const int words = painter.fontMetrics().horizontalAdvance(text());
    painter.setPen(m_isCopied ? colours.success : colours.text);
    painter.drawText(rect().adjusted(0, 0, -side, 0), Qt::AlignVCenter | Qt::AlignRight, text());
    const double size = m_theme.scaled(8);
    const double gap = m_theme.scaled(3);
    const double left = width() - side - words - m_theme.scaled(7) - size - gap + 0.5;
    const double top = static_cast<int>((height() - size - gap) / 2.0) + 0.5;
    painter.setPen(QPen(m_isCopied ? colours.success : colours.text, 1.2));
    painter.setBrush(Qt::NoBrush);
    if (m_isCopied) {
        const QPointF tick[] = {{left, top + size / 2 + 1},
                                {left + size / 2 - 1, top + size},
                                {left + size + 1, top + 2}};
        painter.drawPolyline(tick, 3);
        return;
    }
    painter.drawRoundedRect(QRectF(left + gap, top + gap, size, size), 1.5, 1.5);
    QPainterPath behind;
    behind.moveTo(left + 1, top + size);
    behind.lineTo(left, top + size - 1);
    behind.lineTo(left, top);
    behind.lineTo(left + size, top);
    painter.drawPath(behind);
}

void CodeCopyButton::leaveEvent(QEvent* event) {
    setCopied(false);
    QAbstractButton::leaveEvent(event);
}

void CodeCopyButton::focusOutEvent(QFocusEvent* event) {
    setCopied(false);
    QAbstractButton::focusOutEvent(event);
}

} // namespace ui
