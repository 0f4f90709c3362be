// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/matchness/strip_model.h"

#include "ui/theme/tip_text.h"

#include <algorithm>

namespace ui {

bool StripModel::setCells(std::vector<StripCell> cells) {
    if (m_cells == cells)
        return false;
    beginResetModel();
    m_cells = std::move(cells);
    endResetModel();
    return true;
}

void StripModel::setColumns(int count) {
    if (m_columns == count || count < 1)
        return;
    beginResetModel();
    m_columns = count;
    endResetModel();
}

int StripModel::matchCount() const {
    return static_cast<int>(std::count_if(
        m_cells.begin(), m_cells.end(), [](const StripCell& cell) { return cell.isMatch; }));
}

int StripModel::rowCount(const QModelIndex& parent) const {
    const auto count = static_cast<int>(m_cells.size());
    return parent.isValid() ? 0 : (count + m_columns - 1) / m_columns;
}

int StripModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : std::min(m_columns, static_cast<int>(m_cells.size()));
}

const StripCell* StripModel::cellAt(const QModelIndex& index) const {
    const auto place = static_cast<std::size_t>(index.row() * m_columns + index.column());
    return index.isValid() && place < m_cells.size() ? &m_cells[place] : nullptr;
}

QString StripModel::spokenText(const QModelIndex& index, const StripCell& cell) const {
    const int number = index.row() * m_columns + index.column() + 1;
    if (cell.isMatch)
        return tr("Token %1, %2: the draft agrees.").arg(number).arg(cell.token);
    if (cell.guess.isEmpty())
        return tr("Token %1, %2: the draft would have written a different token.")
            .arg(number)
            .arg(cell.token);
    return tr("Token %1, %2: the draft would have written %3.")
        .arg(number)
        .arg(cell.token, cell.guess);
}

QVariant StripModel::data(const QModelIndex& index, int role) const {
    const StripCell* cell = cellAt(index);
    if (cell == nullptr)
        return {};
    switch (role) {
    case Qt::DisplayRole:
        return cell->token;
    case GuessRole:
        return cell->guess;
    case IsMatchRole:
        return cell->isMatch;
    case Qt::AccessibleTextRole:
        return spokenText(index, *cell);
    case Qt::ToolTipRole:
        return tipOf(spokenText(index, *cell));
    default:
        return {};
    }
}

Qt::ItemFlags StripModel::flags(const QModelIndex& index) const {
    return cellAt(index) == nullptr
               ? Qt::NoItemFlags
               : Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemNeverHasChildren;
}

} // namespace ui
