// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/widgets/transport_button.h"

#include <QPainter>
#include <QPainterPath>

namespace ui {

TransportButton::TransportButton(const Theme& theme,
                                 Sign sign,
                                 const QString& name,
                                 QWidget* parent)
    : QToolButton(parent)
    , m_theme(theme)
    , m_sign(sign) {
    setSign(sign, name);
    connect(&theme, &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void TransportButton::setSign(Sign sign, const QString& name) {
    m_sign = sign;
    setAccessibleName(name);
    setToolTip(name);
    update();
}

void TransportButton::setPrimary(bool isPrimary) {
    m_isPrimary = isPrimary;
    updateGeometry();
    update();
}

void TransportButton::setGrowing(bool isGrowing) {
    m_isGrowing = isGrowing;
    updateGeometry();
    update();
}

QSize TransportButton::sizeHint() const {
    const int usual = m_isPrimary ? 32 : 24;
    const int large = m_isPrimary ? 44 : 38;
    const int side = m_theme.scaled(isLarge() ? large : usual);
    return {side, side};
}

void TransportButton::paintEvent(QPaintEvent* event) {
    QToolButton::paintEvent(event);
    const Colours& colours = m_theme.colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (m_isPrimary) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(colours.accent);
        painter.drawRoundedRect(QRectF(rect()).adjusted(2, 2, -2, -2), 4, 4);
    }
    painter.translate(rect().center() + QPointF(0.5, 0.5));
    const double unit = m_theme.scaled(isLarge() ? 26 : 16) / 16.0;
    painter.scale(unit, unit);
    const QColor enabled = m_isPrimary ? colours.onAccent : colours.text;
    const QColor colour = isEnabled() ? enabled : colours.disabled;
    painter.setPen(QPen(colour, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    QPainterPath path;
    switch (m_sign) {
    case Sign::Previous:
        path.moveTo(2, -4);
        path.lineTo(-2, 0);
        path.lineTo(2, 4);
        painter.drawPath(path);
        return;
    case Sign::Next:
        path.moveTo(-2, -4);
        path.lineTo(2, 0);
        path.lineTo(-2, 4);
        painter.drawPath(path);
        return;
    case Sign::First:
        painter.drawLine(QPointF(-4, -4), QPointF(-4, 4));
        path.moveTo(4, -4);
        path.lineTo(0, 0);
        path.lineTo(4, 4);
        painter.drawPath(path);
        return;
    case Sign::Last:
        painter.drawLine(QPointF(4, -4), QPointF(4, 4));
        path.moveTo(-4, -4);
        path.lineTo(0, 0);
        path.lineTo(-4, 4);
        painter.drawPath(path);
        return;
    case Sign::Play:
        path.moveTo(-3, -4.5);
        path.lineTo(4.5, 0);
        path.lineTo(-3, 4.5);
        path.closeSubpath();
        painter.fillPath(path, colour);
        return;
    case Sign::Pause:
        painter.fillRect(QRectF(-4, -4.5, 3, 9), colour);
        painter.fillRect(QRectF(1, -4.5, 3, 9), colour);
        return;
    }
}

} // namespace ui
