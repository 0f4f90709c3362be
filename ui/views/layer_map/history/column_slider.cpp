// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/history/column_slider.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

namespace ui {

ColumnSlider::ColumnSlider(const Theme& theme, QWidget* parent)
    : QSlider(Qt::Horizontal, parent)
    , m_theme(theme) {
    setRange(0, 0);
    setPageStep(10);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&theme, &Theme::changed, this, qOverload<>(&QWidget::update));
}

QSize ColumnSlider::sizeHint() const { return {m_theme.scaled(200), m_theme.scaled(26)}; }

void ColumnSlider::paintEvent(QPaintEvent*) {
    const Colours& colours = m_theme.colours();
    QPainter painter(this);
    const int middle = height() / 2;
    const int x = qRound(handleX());
    const ColumnScale columns = scale();
    painter.fillRect(0, middle - 1, width(), 2, colours.controlBorder);
    if (isEnabled() && columns.pitch() >= 4.0)
        for (int i = 0; i < columns.count; ++i)
            painter.fillRect(
                qRound(columns.centre(i)), middle + 4, 1, m_theme.scaled(3), colours.axis);
    if (!isEnabled())
        return;
    painter.fillRect(0, middle - 1, x, 2, colours.accent);
    painter.setRenderHint(QPainter::Antialiasing);
    const double radius = m_theme.scaled(6) - 1.0;
    if (hasFocus()) {
        painter.setPen(QPen(colours.focus, 2.0));
        painter.setBrush(colours.panel);
        painter.drawEllipse(QPointF(x, middle), radius + 3.0, radius + 3.0);
    }
    painter.setPen(QPen(colours.accent, 2.0));
    painter.setBrush(hasFocus() ? colours.accent : colours.panel);
    painter.drawEllipse(QPointF(x, middle), radius, radius);
}

void ColumnSlider::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton)
        return;
    setSliderDown(true);
    setValue(scale().columnAt(event->position().x()));
}

void ColumnSlider::mouseMoveEvent(QMouseEvent* event) {
    if (isSliderDown())
        setValue(scale().columnAt(event->position().x()));
}

void ColumnSlider::mouseReleaseEvent(QMouseEvent*) { setSliderDown(false); }

void ColumnSlider::keyPressEvent(QKeyEvent* event) {
    const int step = event->modifiers() & Qt::ShiftModifier ? 10 : 1;
    switch (event->key()) {
    case Qt::Key_Left:
        setValue(value() - step);
        return;
    case Qt::Key_Right:
        setValue(value() + step);
        return;
    case Qt::Key_Space:
        emit playRequested();
        return;
    default:
        QSlider::keyPressEvent(event);
    }
}

} // namespace ui
