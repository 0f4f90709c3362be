// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/widgets/lean_table.h"

#include <QPaintEvent>
#include <QPainter>

#include <algorithm>

namespace ui {

LeanTable::LeanTable(const Theme& theme, QWidget* parent)
    : QTableView(parent)
    , m_theme(theme) {
    setEditTriggers(NoEditTriggers);
    setSelectionBehavior(SelectRows);
    setTabKeyNavigation(false);
    setWordWrap(false);
}

void LeanTable::paintEvent(QPaintEvent* event) {
    QPainter painter(viewport());
    const QRect seen = event->rect();
    painter.fillRect(seen, m_theme.colours().panel);
    if (model() == nullptr || model()->columnCount() == 0)
        return;
    QStyleOptionViewItem option;
    initViewItemOption(&option);
    for (int row = rowAt(std::max(0, seen.top())); row >= 0 && row < model()->rowCount(); ++row) {
        if (rowViewportPosition(row) > seen.bottom())
            break;
        paintRow(painter, row, seen, option);
    }
}

void LeanTable::paintRow(QPainter& painter,
                         int row,
                         const QRect& seen,
                         QStyleOptionViewItem& option) {
    const int top = rowViewportPosition(row);
    const int line = showGrid() ? 1 : 0;
    for (int column = 0; column < model()->columnCount(); ++column) {
        const int left = columnViewportPosition(column);
        const int width = columnWidth(column);
        if (left > seen.right() || left + width <= seen.left())
            continue;
        const QRect cell(left, top, width, rowHeight(row));
        const QModelIndex index = model()->index(row, column, rootIndex());
        option.rect = cell.adjusted(0, 0, -line, -line);
        option.state.setFlag(QStyle::State_Selected, selectionModel()->isSelected(index));
        itemDelegate()->paint(&painter, option, index);
        if (line == 0)
            continue;
        painter.fillRect(cell.right(), cell.top(), 1, cell.height(), m_theme.colours().grid);
        painter.fillRect(cell.left(), cell.bottom(), cell.width(), 1, m_theme.colours().grid);
    }
}

} // namespace ui
