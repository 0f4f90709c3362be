// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/curves/score_table.h"

#include <QHeaderView>

#include <utility>

namespace ui {

ScoreTable::ScoreTable(const Theme& theme, const QString& name, QWidget* parent)
    : PlainTable(theme, TextRole::Figure, parent)
    , m_model(new FigureTableModel(this)) {
    setModel(m_model);
    setAccessibleName(name);
}

void ScoreTable::setTable(FigureTable table) {
    m_model->setTable(std::move(table));
    fitColumns();
}

void ScoreTable::fitColumns() {
    QHeaderView& header = *horizontalHeader();
    header.setSectionResizeMode(QHeaderView::ResizeToContents);
    if (m_model->columnCount() > 0 && header.length() < viewport()->width())
        header.setSectionResizeMode(0, QHeaderView::Stretch);
}

void ScoreTable::resizeEvent(QResizeEvent* event) {
    PlainTable::resizeEvent(event);
    fitColumns();
}

} // namespace ui
