// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/widgets/badge.h"

#include <QPainter>

namespace ui {

Badge::Badge(const Theme& theme, const QString& text, Tone tone, QWidget* parent)
    : QLabel(text, parent)
    , m_theme(theme)
    , m_tone(tone) {
    setTextFormat(Qt::PlainText);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setFont(theme.font(TextRole::Tiny));
    connect(&theme, &Theme::changed, this, [this] {
        setFont(m_theme.font(TextRole::Tiny));
        updateGeometry();
    });
}

void Badge::setTone(Tone tone) {
    if (m_tone == tone)
        return;
    m_tone = tone;
    update();
}

QSize Badge::sizeHint() const {
    const QFontMetrics metrics(m_theme.font(TextRole::Tiny));
    return {metrics.horizontalAdvance(text()) + m_theme.scaled(14), m_theme.scaled(18)};
}

QSize Badge::minimumSizeHint() const { return sizeHint(); }

void Badge::paintEvent(QPaintEvent* /*event*/) {
    const Colours& colours = m_theme.colours();
    const QColor ink = m_tone == Tone::Live      ? colours.success
                       : m_tone == Tone::Current ? colours.accent
                                                 : colours.muted;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(m_tone == Tone::Quiet ? colours.border : ink);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    painter.setPen(ink);
    painter.setFont(m_theme.font(TextRole::Tiny));
    painter.drawText(rect(), Qt::AlignCenter, text());
}

} // namespace ui
