// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/report/result_table_model.h"

#include <QTableView>

#include <algorithm>
#include <utility>

namespace ui {

void ResultTableModel::setTable(engine::ResultTable table) {
    beginResetModel();
    m_table = std::move(table);
    endResetModel();
}

int ResultTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_table.rows.size());
}

int ResultTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_table.columns.size());
}

const engine::ResultCell* ResultTableModel::cell(const QModelIndex& index) const {
    const auto& row = m_table.rows[static_cast<std::size_t>(index.row())];
    const auto column = static_cast<std::size_t>(index.column());
    return column < row.size() ? &row[column] : nullptr;
}

/// A column without any measured value.
bool ResultTableModel::isWords(int column) const {
    const auto place = static_cast<std::size_t>(column);
    return std::ranges::none_of(m_table.rows, [&](const auto& row) {
        return place < row.size() && row[place].value.has_value();
    });
}

QVariant ResultTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const engine::ResultCell* shown = cell(index);
    if (shown == nullptr)
        return {};
    switch (role) {
    case Qt::DisplayRole:
        return QString::fromStdString(shown->text);
    case Qt::ToolTipRole:
        if (shown->value && shown->value->low && shown->value->high)
            return tr("95 % interval %1 to %2, of %3")
                .arg(*shown->value->low, 0, 'g', 4)
                .arg(*shown->value->high, 0, 'g', 4)
                .arg(shown->value->count);
        return {};
    case Qt::TextAlignmentRole:
        return int((isWords(index.column()) ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    default:
        return {};
    }
}

QVariant ResultTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    if (role == Qt::DisplayRole)
        return QString::fromStdString(m_table.columns[static_cast<std::size_t>(section)]);
    if (role == Qt::TextAlignmentRole)
        return int((isWords(section) ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    return {};
}

QString copiedCells(const QTableView& view) {
    const QAbstractItemModel& model = *view.model();
    const QItemSelectionModel& selection = *view.selectionModel();
    const bool isAll = !selection.hasSelection();
    QStringList lines;
    QStringList names;
    for (int column = 0; column < model.columnCount(); ++column)
        names << model.headerData(column, Qt::Horizontal).toString();
    if (isAll)
        lines << names.join(u'\t');
    for (int row = 0; row < model.rowCount(); ++row) {
        QStringList cells;
        for (int column = 0; column < model.columnCount(); ++column)
            if (const QModelIndex index = model.index(row, column);
                isAll || selection.isSelected(index))
                cells << index.data().toString();
        if (!cells.isEmpty())
            lines << cells.join(u'\t');
    }
    return lines.join(u'\n');
}

} // namespace ui
