// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/lens/lens_bars.h"

#include <QHelpEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr int kRowHeight = 44;

/// The value that is drawn in full height. A few that are far above all others (the first MLP of
/// many models) would leave nothing of the rest: they are cut.
double fullHeightOf(const LensBars::Row& row) {
    std::vector<double> sizes;
    for (const std::vector<double>* values : {&row.attention, &row.mlp})
        for (const double value : *values)
            sizes.push_back(std::abs(value));
    if (sizes.empty())
        return 0.0;
    std::ranges::sort(sizes);
    const double usual = sizes[(sizes.size() - 1) * 9 / 10];
    return usual > 0.0 && !row.mlp.empty() ? std::min(sizes.back(), 1.5 * usual) : sizes.back();
}

} // namespace

LensBars::LensBars(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&theme, &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void LensBars::setRows(std::vector<Row> rows) {
    QStringList spoken;
    for (const Row& row : rows)
        spoken << row.summary;
    setAccessibleName(spoken.join(' '));
    const bool isAsTall = rows.size() == m_rows.size();
    m_rows = std::move(rows);
    if (!isAsTall)
        updateGeometry();
    update();
}

void LensBars::setEdges(std::vector<int> edges) {
    m_edges = std::move(edges);
    update();
}

QSize LensBars::sizeHint() const {
    return {m_theme.scaled(200), m_theme.scaled(kRowHeight) * static_cast<int>(m_rows.size())};
}

bool LensBars::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto row = static_cast<std::size_t>(help->pos().y() / m_theme.scaled(kRowHeight));
    if (row < m_rows.size())
        QToolTip::showText(help->globalPos(), m_rows[row].summary, this);
    return true;
}

void LensBars::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.colours().panel);
    const int height = m_theme.scaled(kRowHeight);
    int top = 0;
    for (const Row& row : m_rows) {
        paintRow(painter, row, {0, top, width(), height});
        top += height;
    }
}

/// Bars below zero hang from the line; they are drawn in the colour of a warning.
void LensBars::paintRow(QPainter& painter, const Row& row, const QRect& room) const {
    const Colours& colours = m_theme.colours();
    const int left = m_edges.empty() ? room.width() : m_edges.front();
    const QRect words(m_theme.scaled(6), room.top(), left - m_theme.scaled(12), room.height());
    const int line = words.height() / 2;
    painter.setFont(m_theme.font(TextRole::Small));
    painter.setPen(colours.text);
    painter.drawText(words.adjusted(0, 0, 0, -line), Qt::AlignLeft | Qt::AlignBottom, row.title);
    painter.setFont(m_theme.font(TextRole::Tiny));
    painter.setPen(colours.muted);
    painter.drawText(words.adjusted(0, line, 0, 0),
                     Qt::AlignLeft | Qt::AlignTop,
                     painter.fontMetrics().elidedText(row.note, Qt::ElideRight, words.width()));
    const double largest = fullHeightOf(row);
    if (largest <= 0.0 || m_edges.size() != row.attention.size() + 1)
        return;
    const bool hasNegative = std::ranges::any_of(row.attention, [](double v) { return v < 0.0; }) ||
                             std::ranges::any_of(row.mlp, [](double v) { return v < 0.0; });
    const int full = room.height() - m_theme.scaled(8);
    const int tallest = hasNegative ? full / 2 : full;
    const int base = room.top() + m_theme.scaled(4) + tallest;
    const auto bar = [&](double value, int x, int width, const QColor& colour) {
        const double part = std::min(std::abs(value) / largest, 1.0);
        const int height = static_cast<int>(std::lround(part * tallest));
        const int top = value < 0.0 ? base : base - height;
        painter.fillRect(x, top, std::max(width, 1), std::max(height, 1), colour);
        if (std::abs(value) > largest) // a slit says that it is cut
            painter.fillRect(x, top + tallest / 4, std::max(width, 1), 2, colours.panel);
    };
    for (std::size_t layer = 0; layer < row.attention.size(); ++layer) {
        const int x = m_edges[layer];
        const int whole = m_edges[layer + 1] - x;
        const int width = row.mlp.empty() ? whole - 1 : whole / 2;
        bar(row.attention[layer],
            x,
            width,
            row.mlp.empty() ? colours.keptInHistory : colours.attention);
        if (!row.mlp.empty())
            bar(row.mlp[layer], x + width, whole - width - 1, colours.mlp);
    }
    painter.fillRect(m_edges.front(), base, m_edges.back() - m_edges.front(), 1, colours.axis);
}

} // namespace ui
