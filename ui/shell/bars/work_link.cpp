// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/bars/work_link.h"

#include <QPainter>

#include <algorithm>

namespace ui {

namespace {

constexpr double kSquare = 7.0;      ///< pixels at 100 %
constexpr double kMostTitle = 220.0; ///< as much of it as is ever shown
constexpr double kLeastTitle = 40.0;
constexpr double kBetween = 6.0;

} // namespace

WorkLink::WorkLink(const Theme& theme, QWidget* parent)
    : QAbstractButton(parent)
    , m_theme(theme) {
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_Hover);
    connect(&theme, &Theme::changed, this, &QWidget::updateGeometry);
    setAccessibleName(tr("Work beside the chat"));
    hide();
}

void WorkLink::setNote(const WorkNote& note) {
    if (m_note == note)
        return;
    m_note = note;
    setAccessibleName(tr("%1, %2").arg(note.title, note.state));
    setToolTip(tr("<b>%1</b><br>%2<br>Click to see it.")
                   .arg(note.title.toHtmlEscaped(), note.state.toHtmlEscaped()));
    updateGeometry();
    update();
}

/// Advances are rounded, here and below, but texts are cut where they are a fraction wider than
/// their room.
int WorkLink::titleWidth() const {
    return QFontMetrics(m_theme.font(TextRole::Small)).horizontalAdvance(m_note.title) + 1;
}

int WorkLink::widthFor(int titleWidth) const {
    const QFontMetrics metrics(m_theme.font(TextRole::Small));
    return m_theme.scaled(kSquare) + 3 * m_theme.scaled(kBetween) + titleWidth +
           metrics.horizontalAdvance(m_note.state) + 1;
}

QString WorkLink::shownTitle() const {
    return QFontMetrics(m_theme.font(TextRole::Small))
        .elidedText(m_note.title, Qt::ElideMiddle, width() - widthFor(0));
}

QSize WorkLink::sizeHint() const {
    const QFontMetrics metrics(m_theme.font(TextRole::Small));
    return {widthFor(std::min(titleWidth(), m_theme.scaled(kMostTitle))), metrics.height()};
}

QSize WorkLink::minimumSizeHint() const {
    const QFontMetrics metrics(m_theme.font(TextRole::Small));
    return {widthFor(std::min(titleWidth(), m_theme.scaled(kLeastTitle))), metrics.height()};
}

void WorkLink::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Colours& colours = m_theme.colours();
    const int gap = m_theme.scaled(kBetween);
    const int square = m_theme.scaled(kSquare);
    if (underMouse())
        painter.fillRect(rect(), colours.hover);
    if (hasFocus()) {
        painter.setPen(colours.focus);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
    painter.fillRect(QRect(gap / 2, (height() - square) / 2, square, square),
                     m_note.isError ? colours.error : colours.accent);
    painter.setFont(m_theme.font(TextRole::Small));
    const QFontMetrics metrics = painter.fontMetrics();
    const QString title = shownTitle();
    QRect line = rect().adjusted(square + gap, 0, 0, 0);
    painter.setPen(colours.muted);
    painter.drawText(line, Qt::AlignVCenter | Qt::TextSingleLine, title);
    line.setLeft(line.left() + metrics.horizontalAdvance(title) + gap);
    painter.setPen(m_note.isError ? colours.error : colours.text);
    painter.drawText(line, Qt::AlignVCenter | Qt::TextSingleLine, m_note.state);
}

} // namespace ui
