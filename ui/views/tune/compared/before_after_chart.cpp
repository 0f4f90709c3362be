// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/compared/before_after_chart.h"

#include "ui/shell/figure_text.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ui {

BeforeAfterChart::BeforeAfterChart(const Theme& theme, const QString& name, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme) {
    setAccessibleName(name);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&theme, &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void BeforeAfterChart::setRows(std::vector<BeforeAfter> rows, BeforeAfterNames names) {
    if (m_rows == rows && m_names == names)
        return;
    m_rows = std::move(rows);
    m_names = std::move(names);
    QStringList told;
    for (const BeforeAfter& row : m_rows)
        told << m_names.row.arg(row.name, factorText(row.without), factorText(row.with));
    setAccessibleDescription(told.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

int BeforeAfterChart::nameWidth() const {
    const QFontMetrics metrics(m_theme.font(TextRole::Small));
    int widest = 0;
    for (const BeforeAfter& row : m_rows)
        widest = std::max(widest, metrics.horizontalAdvance(row.name));
    return std::min(widest, m_theme.scaled(170)) + m_theme.scaled(12);
}

int BeforeAfterChart::figureWidth() const {
    return QFontMetrics(m_theme.font(TextRole::AxisFigure))
               .horizontalAdvance(QStringLiteral("0.00\u00D7")) +
           m_theme.scaled(8);
}

QRect BeforeAfterChart::barsIn(const QRect& room) const {
    const int side = m_theme.scaled(12);
    return room.adjusted(side + nameWidth(), legendHeight(), -side - figureWidth(), 0);
}

/// A whole half above the highest speed, so that bars do not grow with every prompt.
double BeforeAfterChart::pixelsOf(double speed, const QRect& bars) const {
    double highest = 1.0;
    for (const BeforeAfter& row : m_rows)
        highest = std::max({highest, row.with, row.without});
    return speed / (std::floor(highest * 2.0 + 1.0) / 2.0) * bars.width();
}

void BeforeAfterChart::paintLegend(QPainter& painter, const QRect& room) const {
    const Colours& colours = m_theme.colours();
    const QFontMetrics metrics(m_theme.font(TextRole::Tiny));
    painter.setFont(m_theme.font(TextRole::Tiny));
    const int size = m_theme.scaled(8);
    int x = barsIn(room).left();
    const int middle = room.top() + legendHeight() / 2;
    for (const bool isWith : {false, true}) {
        const QString& name = isWith ? m_names.with : m_names.without;
        painter.fillRect(QRect(x, middle - size / 2, size, size),
                         isWith ? colours.accent : colours.controlBorder);
        x += size + m_theme.scaled(5);
        painter.setPen(colours.text);
        painter.drawText(QRect(x, room.top(), metrics.horizontalAdvance(name) + 1, legendHeight()),
                         Qt::AlignVCenter | Qt::AlignLeft,
                         name);
        x += metrics.horizontalAdvance(name) + m_theme.scaled(14);
    }
    painter.setPen(colours.muted);
    painter.drawText(QRect(x, room.top(), room.right() - x, legendHeight()),
                     Qt::AlignVCenter | Qt::AlignLeft,
                     m_names.plain);
}

void BeforeAfterChart::paintRow(QPainter& painter,
                                const BeforeAfter& row,
                                const QRect& room) const {
    const Colours& colours = m_theme.colours();
    const QRect bars = barsIn(room);
    const int thick = m_theme.scaled(12);
    const int top = room.top() + (rowHeight() - 2 * thick - m_theme.scaled(2)) / 2;
    QFont font = m_theme.font(TextRole::Small);
    font.setBold(row.isSum);
    painter.setFont(font);
    painter.setPen(colours.text);
    const QRect name(room.left() + m_theme.scaled(12), room.top(), nameWidth(), rowHeight());
    painter.drawText(
        name,
        Qt::AlignVCenter | Qt::AlignLeft,
        QFontMetrics(font).elidedText(row.name, Qt::ElideRight, name.width() - m_theme.scaled(8)));
    painter.setFont(m_theme.font(TextRole::AxisFigure));
    for (const bool isWith : {false, true}) {
        const double speed = isWith ? row.with : row.without;
        const int y = top + (isWith ? thick + m_theme.scaled(2) : 0);
        const int length = static_cast<int>(std::lround(pixelsOf(speed, bars)));
        painter.fillRect(QRect(bars.left(), y, length, thick),
                         isWith ? colours.accent : colours.controlBorder);
        painter.setPen(isWith ? colours.text : colours.muted);
        painter.drawText(
            QRect(bars.left() + length + m_theme.scaled(4), y - thick, figureWidth(), 3 * thick),
            Qt::AlignVCenter | Qt::AlignLeft,
            factorText(speed));
    }
}

void BeforeAfterChart::paint(QPainter& painter, const QRect& room) const {
    if (m_rows.empty())
        return;
    const Colours& colours = m_theme.colours();
    painter.setRenderHint(QPainter::Antialiasing, false);
    paintLegend(painter, room);
    const QRect bars = barsIn(room);
    int y = bars.top();
    for (const BeforeAfter& row : m_rows) {
        if (row.isSum && y > bars.top()) {
            painter.setPen(colours.border);
            painter.drawLine(room.left() + m_theme.scaled(12), y, room.right(), y);
        }
        paintRow(painter, row, QRect(room.left(), y, room.width(), rowHeight()));
        y += rowHeight();
    }
    const int plain = bars.left() + static_cast<int>(std::lround(pixelsOf(1.0, bars)));
    painter.setPen(colours.text);
    painter.drawLine(plain, bars.top(), plain, y);
}

void BeforeAfterChart::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.colours().panel);
    paint(painter, rect());
}

QSize BeforeAfterChart::sizeHint() const {
    return {m_theme.scaled(470),
            legendHeight() + static_cast<int>(m_rows.size()) * rowHeight() + m_theme.scaled(6)};
}

QSize BeforeAfterChart::minimumSizeHint() const {
    return {m_theme.scaled(250), sizeHint().height()};
}

} // namespace ui
