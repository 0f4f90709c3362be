// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/slow_motion/pictures/scene_picture.h"

#include <QPainter>

namespace ui {

ScenePicture::ScenePicture(const Theme& theme, const QString& title, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme) {
    setAccessibleName(title);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&theme, &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void ScenePicture::show(const WalkScene* scene) {
    m_scene = scene;
    askForHeight();
    if (scene != nullptr)
        setAccessibleDescription(subtitle());
    update();
}

void ScenePicture::askForHeight() {
    if (sizeHint().height() != height())
        updateGeometry();
}

void ScenePicture::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    askForHeight();
}

QSize ScenePicture::sizeHint() const {
    return {m_theme.scaled(420), titleHeight() + (m_scene == nullptr ? 0 : bodyHeight())};
}

QSize ScenePicture::minimumSizeHint() const { return {m_theme.scaled(240), sizeHint().height()}; }

void ScenePicture::paintEvent(QPaintEvent*) {
    const Colours& colours = m_theme.colours();
    QPainter painter(this);
    painter.fillRect(rect(), colours.panel);
    const QRect title(0, 0, width(), titleHeight());
    painter.fillRect(title, colours.raised);
    painter.fillRect(0, title.bottom(), width(), 1, colours.border);
    int left = m_theme.scaled(12);
    const auto write = [&](const QString& text, const QFont& font, const QColor& colour) {
        painter.setFont(font);
        painter.setPen(colour);
        const QRect room = title.adjusted(left, 0, -m_theme.scaled(8), 0);
        const QString shown =
            painter.fontMetrics().elidedText(text, Qt::ElideRight, std::max(0, room.width()));
        painter.drawText(room, Qt::AlignVCenter, shown);
        left += painter.fontMetrics().horizontalAdvance(shown) + m_theme.scaled(8);
    };
    write(accessibleName(), m_theme.font(TextRole::DockTitle), colours.text);
    if (m_scene == nullptr)
        return;
    if (isNow()) {
        const QString now = tr("now");
        painter.setFont(m_theme.font(TextRole::Tiny));
        const int wide = painter.fontMetrics().horizontalAdvance(now) + m_theme.scaled(10);
        const int high = m_theme.scaled(16);
        const QRect badge(left, (title.height() - high) / 2, wide, high);
        painter.setPen(colours.accent);
        painter.drawRoundedRect(QRectF(badge).adjusted(.5, .5, -.5, -.5), 3, 3);
        painter.drawText(badge, Qt::AlignCenter, now);
        left += wide + m_theme.scaled(8);
    }
    write(subtitle(), m_theme.font(TextRole::Small), colours.muted);
    paintBody(painter, bodyRect());
}

void ScenePicture::paintBox(QPainter& painter, const Box& box) const {
    painter.setPen(QPen(box.line, 1, box.isDashed ? Qt::DashLine : Qt::SolidLine));
    painter.setBrush(box.ground);
    painter.drawRect(box.place.adjusted(0, 0, -1, -1));
    painter.setBrush(Qt::NoBrush);
    painter.setPen(box.ink);
    QRect inside = box.place.adjusted(m_theme.scaled(6), 0, -m_theme.scaled(6), 0);
    if (!box.note.isEmpty()) {
        painter.setFont(m_theme.font(TextRole::AxisFigure));
        painter.drawText(inside, Qt::AlignVCenter | Qt::AlignRight, box.note);
        inside.setRight(inside.right() - painter.fontMetrics().horizontalAdvance(box.note) -
                        m_theme.scaled(4));
    }
    QFont mono = m_theme.font(TextRole::Figure);
    mono.setStrikeOut(box.isStruck);
    painter.setFont(mono);
    painter.drawText(
        inside,
        Qt::AlignVCenter | Qt::AlignLeft,
        painter.fontMetrics().elidedText(box.text, Qt::ElideRight, std::max(0, inside.width())));
}

} // namespace ui
