// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/library/two_line_delegate.h"

#include <QPainter>

namespace ui {

TwoLineDelegate::TwoLineDelegate(const Theme& theme, QObject* parent)
    : QStyledItemDelegate(parent)
    , m_theme(theme) {}

QSize TwoLineDelegate::sizeHint(const QStyleOptionViewItem& /*option*/,
                                const QModelIndex& /*index*/) const {
    return {m_theme.scaled(160), rowHeight()};
}

void TwoLineDelegate::paint(QPainter* painter,
                            const QStyleOptionViewItem& option,
                            const QModelIndex& index) const {
    const Colours& colours = m_theme.colours();
    const bool isCurrent = option.state & QStyle::State_Selected;
    painter->save();
    if (isCurrent || (option.state & QStyle::State_MouseOver))
        painter->fillRect(option.rect, isCurrent ? colours.selection : colours.hover);
    if (option.state & QStyle::State_HasFocus) {
        painter->setPen(QPen(colours.focus, 2));
        painter->drawRect(option.rect.adjusted(1, 1, -1, -1));
    }
    const int inset = m_theme.scaled(8);
    const QRect words = option.rect.adjusted(inset, m_theme.scaled(2), -inset, 0);
    const int line = m_theme.scaled(19);
    const bool isHead = index.data(IsHeadRole).toBool();
    painter->setFont(m_theme.font(isHead ? TextRole::DockTitle : TextRole::Interface));
    painter->setPen(index.data(IsDimRole).toBool() ? colours.disabled : colours.text);
    paintLine(*painter,
              {words.left(), words.top(), words.width(), line},
              index.data().toString(),
              Qt::ElideMiddle);
    painter->setFont(m_theme.font(TextRole::Tiny));
    painter->setPen(index.data(IsAlarmRole).toBool() ? colours.warning : colours.muted);
    paintLine(*painter,
              {words.left(), words.top() + line, words.width(), m_theme.scaled(16)},
              index.data(SecondLineRole).toString(),
              index.data(IsSentenceRole).toBool() ? Qt::ElideRight : Qt::ElideMiddle);
    painter->restore();
}

void TwoLineDelegate::paintLine(QPainter& painter,
                                const QRect& area,
                                const QString& text,
                                Qt::TextElideMode cut) const {
    painter.drawText(area,
                     Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(text, cut, area.width()));
}

} // namespace ui
