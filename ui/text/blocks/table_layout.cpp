// SPDX-License-Identifier: GPL-3.0-only
#include "ui/text/blocks/block_view.h"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ui {

namespace {

Qt::Alignment alignmentOf(CellAlignment alignment) {
    switch (alignment) {
    case CellAlignment::Centre:
        return Qt::AlignHCenter;
    case CellAlignment::Right:
        return Qt::AlignRight;
    case CellAlignment::Left:
        break;
    }
    return Qt::AlignLeft;
}

/// The widths of a table's columns: what the cells need if it fits, otherwise shares of the width.
std::vector<double> columnWidths(const std::vector<double>& wanted, double available) {
    const double sum = std::accumulate(wanted.begin(), wanted.end(), 0.0);
    std::vector<double> widths = wanted;
    if (sum <= available || wanted.empty())
        return widths;
    // Columns that need less than their share get what they need; the others divide the rest.
    std::vector<std::size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return wanted[a] < wanted[b];
    });
    double left = available;
    std::size_t count = wanted.size();
    for (const std::size_t column : order) {
        const double share = std::floor(left / static_cast<double>(count));
        widths[column] = std::min(wanted[column], share);
        left -= widths[column];
        --count;
    }
    return widths;
}

} // namespace

double BlockView::placeTable(const MessageContext& context) {
    const std::size_t count = m_columns.size();
    const double above = context.theme.scaled(4);
    const double left = indent(context);
    const double room = context.width - left - 1;
    // Many columns stand closer together: what is beside the message could not be seen.
    const double side = std::min<double>(context.theme.scaled(10),
                                         std::floor(room / static_cast<double>(count) / 6.0));
    std::vector<double> wanted(count, 0.0);
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
        TextPiece& cell = m_parts[i].piece;
        cell.layOutOnOneLine(context);
        wanted[i % count] =
            std::max(wanted[i % count], std::ceil(cell.naturalWidth()) + 2 * side + 1);
    }
    const std::vector<double> widths = columnWidths(wanted, room);
    m_gridLines.clear();
    m_rowLines.clear();
    double y = 0.0;
    double x = left;
    for (std::size_t row = 0; row * count < m_parts.size(); ++row) {
        double tallest = 0.0;
        x = left;
        for (std::size_t column = 0; column < count && row * count + column < m_parts.size();
             ++column) {
            PlacedPiece& cell = m_parts[row * count + column];
            cell.piece.layOut(context, widths[column] - 2 * side, alignmentOf(m_columns[column]));
            cell.at = {x + side, y + above};
            x += widths[column];
            tallest = std::max(tallest, cell.piece.height());
        }
        y += tallest + 2 * above;
        m_rowLines.push_back(y);
    }
    x = left;
    for (const double width : widths)
        m_gridLines.push_back(x += width);
    m_frame = QRectF(left, 0, x - left, y);
    return y + 1;
}

void BlockView::paintTable(QPainter& painter, const MessageContext& context, QPointF at) const {
    const Colours& colours = context.theme.colours();
    const QRectF frame = m_frame.translated(at);
    if (m_rowLines.empty())
        return;
    painter.fillRect(QRectF(frame.left(), frame.top(), frame.width(), m_rowLines.front()),
                     colours.raised);
    painter.fillRect(QRectF(frame.left(), frame.top(), frame.width(), 1), colours.border);
    painter.fillRect(QRectF(frame.left(), frame.top(), 1, frame.height()), colours.border);
    for (const double y : m_rowLines)
        painter.fillRect(QRectF(frame.left(), at.y() + y, frame.width() + 1, 1), colours.border);
    for (const double x : m_gridLines)
        painter.fillRect(QRectF(at.x() + x, frame.top(), 1, frame.height()), colours.border);
}

} // namespace ui
