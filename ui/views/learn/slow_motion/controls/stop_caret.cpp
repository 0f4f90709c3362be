// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/slow_motion/controls/stop_caret.h"

#include <QKeyEvent>
#include <QPainter>

#include <algorithm>

namespace ui {

namespace {

/// Lengths in pixels at 100 %.
struct CaretForm {
    int stop = 74;
    int narrowStop = 44; ///< where there is less room
    int disc = 22;
    int height = 46;
    TextRole number = TextRole::Small;
    TextRole title = TextRole::Tiny;
};

constexpr CaretForm kLargeForm{110, 60, 30, 58, TextRole::Title, TextRole::Interface};

CaretForm formFor(const Theme& theme) { return theme.isForAudience() ? kLargeForm : CaretForm(); }

} // namespace

StopCaret::StopCaret(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Stops of the round"));
    connect(&theme, &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void StopCaret::show(const QStringList& titles, int current) {
    if (titles.size() != m_titles.size())
        updateGeometry();
    m_titles = titles;
    m_current = current;
    setAccessibleDescription(titles.isEmpty() ? QString()
                                              : tr("stop %1 of %2: %3")
                                                    .arg(current + 1)
                                                    .arg(titles.size())
                                                    .arg(titles.value(current)));
    update();
}

QSize StopCaret::sizeHint() const {
    const CaretForm form = formFor(m_theme);
    return {m_theme.scaled(form.stop) * std::max(1, static_cast<int>(m_titles.size())),
            m_theme.scaled(form.height)};
}

QSize StopCaret::minimumSizeHint() const {
    const CaretForm form = formFor(m_theme);
    return {m_theme.scaled(form.narrowStop) * std::max(1, static_cast<int>(m_titles.size())),
            m_theme.scaled(form.height)};
}

QRect StopCaret::place(int stop) const {
    const int count = std::max(1, static_cast<int>(m_titles.size()));
    const int wide = std::min(width() / count, m_theme.scaled(formFor(m_theme).stop));
    return {(width() - wide * count) / 2 + stop * wide, 0, wide, height()};
}

void StopCaret::paintEvent(QPaintEvent*) {
    const Colours& colours = m_theme.colours();
    QPainter painter(this);
    const CaretForm form = formFor(m_theme);
    const int side = m_theme.scaled(form.disc);
    const int top = m_theme.scaled(4);
    const auto count = static_cast<int>(m_titles.size());
    for (int stop = 0; stop < count; ++stop) {
        const QRect room = place(stop);
        const QRect disc(room.center().x() - side / 2, top, side, side);
        const bool isNow = stop == m_current;
        const bool isDone = stop < m_current;
        if (stop > 0)
            painter.fillRect(place(stop - 1).center().x() + side / 2 + 1,
                             disc.center().y(),
                             disc.left() - place(stop - 1).center().x() - side / 2 - 1,
                             1,
                             isNow || isDone ? colours.accent : colours.controlBorder);
        painter.setRenderHint(QPainter::Antialiasing, true);
        painter.setPen(isNow || isDone ? colours.accent : colours.controlBorder);
        painter.setBrush(isNow ? colours.accent : colours.panel);
        painter.drawEllipse(QRectF(disc).adjusted(.5, .5, -.5, -.5));
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setFont(m_theme.font(form.number));
        painter.setPen(isNow ? colours.onAccent : isDone ? colours.accent : colours.muted);
        painter.drawText(
            disc, Qt::AlignCenter, isDone ? QStringLiteral("\u2713") : QString::number(stop + 1));
        QFont words = m_theme.font(form.title);
        words.setBold(isNow);
        painter.setFont(words);
        painter.setPen(isNow ? colours.accent : isDone ? colours.text : colours.muted);
        const QRect below(
            room.left(), disc.bottom() + 1, room.width(), height() - disc.bottom() - 1);
        painter.drawText(
            below,
            Qt::AlignHCenter | Qt::AlignTop,
            painter.fontMetrics().elidedText(m_titles[stop], Qt::ElideRight, below.width()));
        if (isNow && hasFocus()) {
            painter.setPen(QPen(colours.focus, m_theme.scaled(2)));
            painter.drawRoundedRect(room.adjusted(1, 1, -1, -1), 4, 4);
        }
    }
}

void StopCaret::mousePressEvent(QMouseEvent* event) {
    for (int stop = 0; stop < m_titles.size(); ++stop)
        if (place(stop).contains(event->pos()))
            emit asked(stop);
}

void StopCaret::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Left && m_current > 0)
        emit asked(m_current - 1);
    else if (event->key() == Qt::Key_Right && m_current + 1 < m_titles.size())
        emit asked(m_current + 1);
    else if (event->key() != Qt::Key_Left && event->key() != Qt::Key_Right)
        QWidget::keyPressEvent(event);
}

} // namespace ui
