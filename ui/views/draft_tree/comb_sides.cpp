// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/draft_tree/draft_tree_view.h"

#include <QPainter>

#include <algorithm>

// Paints the rows outside the draft: small, dashed, without a probability.

namespace ui {

const std::vector<CombSide>& CombPicture::sidesOf(int row) const {
    if (row == 0)
        return m_comb.rootSides;
    static const std::vector<CombSide> kNone;
    const auto place = static_cast<std::size_t>(row - 1);
    return place < m_comb.rows.size() ? m_comb.rows[place].sides : kNone;
}

/// As many as fit; the last place says how many more there are.
void CombPicture::paintSides(QPainter& painter, int row, const Columns& place) {
    const std::vector<CombSide>& sides = sidesOf(row);
    if (sides.empty())
        return;
    const QFontMetrics metrics(m_theme.font(TextRole::AxisFigure));
    const int height = m_theme.scaled(16);
    const int top = rowTop(row) + m_theme.scaled(23 + 4);
    const int gap = m_theme.scaled(4);
    const int more = metrics.horizontalAdvance(QStringLiteral("+000"));
    int left = place.choiceX + m_theme.scaled(24);
    std::size_t shown = 0;
    for (; shown < sides.size(); ++shown) {
        const int wanted = metrics.horizontalAdvance(sides[shown].text) + m_theme.scaled(8);
        const int width = std::clamp(wanted, m_theme.scaled(18), m_theme.scaled(64));
        const int kept = shown + 1 < sides.size() ? more + gap : 0;
        if (left + width + kept > place.right)
            break;
        paintSide(painter, QRect(left, top, width, height), sides[shown].text);
        left += width + gap;
    }
    m_shownSides += static_cast<int>(shown);
    if (shown == sides.size())
        return;
    painter.setPen(m_theme.colours().muted);
    painter.setFont(m_theme.font(TextRole::AxisFigure));
    painter.drawText(QRect(left, top, place.right - left, height),
                     Qt::AlignVCenter | Qt::AlignLeft,
                     QStringLiteral("+%1").arg(sides.size() - shown));
}

void CombPicture::paintSide(QPainter& painter, const QRect& place, const QString& text) {
    const Colours& colours = m_theme.colours();
    painter.setPen(QPen(colours.controlBorder, 1, Qt::DashLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(place.adjusted(0, 0, -1, -1));
    const QFont font = m_theme.font(TextRole::AxisFigure);
    painter.setFont(font);
    painter.setPen(colours.muted);
    const QRect words = place.adjusted(m_theme.scaled(3), 0, -m_theme.scaled(3), 0);
    painter.drawText(
        words, Qt::AlignCenter, QFontMetrics(font).elidedText(text, Qt::ElideRight, words.width()));
}

void CombPicture::paintSideLegend(QPainter& painter, const Columns& place) {
    const int end = m_comb.rows.empty() ? 0 : m_theme.scaled(kEndHeight);
    const int top = rowTop(static_cast<int>(m_comb.rows.size()) + 1) + end;
    const int height = m_theme.scaled(16);
    const QRect sample(place.depthX, top + m_theme.scaled(2), m_theme.scaled(24), height);
    paintSide(painter, sample, QString());
    painter.setFont(m_theme.font(TextRole::Small));
    painter.setPen(m_theme.colours().muted);
    const int left = sample.right() + m_theme.scaled(8);
    const QRect words(left, sample.y(), place.right - left, height);
    painter.drawText(words,
                     Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(
                         tr("beside the draft, cannot be accepted (%1)").arg(m_comb.sideCount),
                         Qt::ElideRight,
                         words.width()));
}

} // namespace ui
