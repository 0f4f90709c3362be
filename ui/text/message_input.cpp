// SPDX-License-Identifier: GPL-3.0-only
// What pointer and keys do in a message body.
#include "ui/text/message_body.h"
#include "ui/theme/tip_text.h"

#include <QApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>

#include <algorithm>

namespace ui {

namespace {

constexpr int kLongestTarget = 300;

} // namespace

bool MessageBody::isOwnShortcut(const QKeyEvent& event) const {
    if (event.matches(QKeySequence::SelectAll))
        return true;
    if (event.matches(QKeySequence::Copy))
        return m_anchor != m_selectionEnd;
    return event.key() == Qt::Key_Escape && m_pinnedToken >= 0;
}

bool MessageBody::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride &&
        isOwnShortcut(*static_cast<QKeyEvent*>(event))) {
        event->accept();
        return true;
    }
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (!showLinkTip(help->pos(), help->globalPos()))
            QToolTip::hideText();
        return true;
    }
    return QWidget::event(event);
}

bool MessageBody::showLinkTip(QPoint position, QPoint globalPosition) {
    const QString target = laidOut().linkAt(toLayout(position));
    if (target.isEmpty())
        return false;
    const QString shown =
        target.size() > kLongestTarget ? target.left(kLongestTarget) + QChar(0x2026) : target;
    const QString sentence =
        tr("This link leads to %1. Links are not opened from here.").arg(shown);
    QToolTip::showText(globalPosition, tipOf(sentence), this);
    return true;
}

void MessageBody::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) {
        event->ignore();
        return;
    }
    m_pressedAt = event->position();
    m_isSelecting = true;
    const int place = laidOut().sourceAt(toLayout(event->position()));
    if ((event->modifiers() & Qt::ShiftModifier) != 0)
        select(m_anchor, place);
    else
        select(place, place);
}

void MessageBody::mouseMoveEvent(QMouseEvent* event) {
    if (m_isSelecting) {
        const bool isDrag = (event->position() - m_pressedAt).manhattanLength() >=
                            QApplication::startDragDistance() / 2.0;
        if (isDrag || m_anchor != m_selectionEnd)
            select(m_anchor, laidOut().sourceAt(toLayout(event->position())));
        return;
    }
    const int token = showsOrigin() ? laidOut().tokenAt(toLayout(event->position())) : -1;
    hover(token, event->globalPosition().toPoint());
}

void MessageBody::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !m_isSelecting) {
        event->ignore();
        return;
    }
    m_isSelecting = false;
    if (showsOrigin() && m_anchor == m_selectionEnd)
        setPinnedToken(laidOut().tokenAt(toLayout(event->position())));
}

void MessageBody::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton)
        return;
    const SourceRange word = laidOut().wordAt(toLayout(event->position()));
    select(word.begin, word.end);
    setPinnedToken(-1); // the first click has pinned it, and its details would cover the text
}

void MessageBody::leaveEvent(QEvent* event) {
    hover(-1, QCursor::pos());
    QWidget::leaveEvent(event);
}

void MessageBody::hover(int token, QPoint globalPosition) {
    if (token == m_hoveredToken)
        return;
    m_hoveredToken = token;
    emit tokenHovered(token, globalPosition);
}

void MessageBody::setPinnedToken(int token) {
    if (token == m_pinnedToken)
        return;
    const QRect before = tokenRect(m_pinnedToken);
    m_pinnedToken = token;
    // A token may continue in the next line; the ring is drawn around each part.
    const int lines = 3 * m_theme.scaled(28);
    for (const QRect& rect : {before, tokenRect(token)})
        if (!rect.isNull())
            update(QRect(0, rect.top() - 4, width(), rect.height() + lines));
    emit tokenPinned(token);
}

void MessageBody::moveAlongTokens(int direction) {
    const auto size = static_cast<int>(tokens().size());
    const int from = m_pinnedToken >= 0 ? m_pinnedToken + direction : direction > 0 ? 0 : size - 1;
    const int next = m_layout.nextShownToken(from, direction);
    if (next >= 0)
        setPinnedToken(next);
}

void MessageBody::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::SelectAll)) {
        selectAll();
    } else if (event->matches(QKeySequence::Copy) && m_anchor != m_selectionEnd) {
        copySelection();
    } else if (event->key() == Qt::Key_Escape && m_pinnedToken >= 0) {
        setPinnedToken(-1);
    } else if (showsOrigin() && event->key() == Qt::Key_Right) {
        moveAlongTokens(+1);
    } else if (showsOrigin() && event->key() == Qt::Key_Left) {
        moveAlongTokens(-1);
    } else {
        QWidget::keyPressEvent(event);
    }
}

void MessageBody::focusInEvent(QFocusEvent* event) {
    m_isRingVisible = event->reason() == Qt::TabFocusReason ||
                      event->reason() == Qt::BacktabFocusReason ||
                      event->reason() == Qt::ShortcutFocusReason;
    update();
}

void MessageBody::focusOutEvent(QFocusEvent*) {
    m_isRingVisible = false;
    update();
}

} // namespace ui
