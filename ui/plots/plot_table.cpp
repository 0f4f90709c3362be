// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/plot_table.h"

#include <QLocale>

#include <cmath>

namespace ui {

namespace {

bool isNumber(const QVariant& cell) {
    const int type = cell.typeId();
    return type == QMetaType::Double || type == QMetaType::Int || type == QMetaType::LongLong ||
           type == QMetaType::UInt || type == QMetaType::ULongLong;
}

QString csvCell(const QVariant& cell) {
    QString text = cellText(cell);
    if (isNumber(cell))
        return text;
    const bool isFormula = !text.isEmpty() && QStringLiteral("=+-@\t\r").contains(text.front());
    if (isFormula)
        text.prepend(QChar('\''));
    const bool needsQuotes = isFormula || text.contains(QChar(',')) || text.contains(QChar('"')) ||
                             text.contains(QChar('\n')) || text.contains(QChar('\r'));
    if (!needsQuotes)
        return text;
    return QChar('"') + text.replace(QStringLiteral("\""), QStringLiteral("\"\"")) + QChar('"');
}

} // namespace

QString cellText(const QVariant& cell) {
    if (cell.typeId() != QMetaType::Double)
        return cell.toString();
    const double value = cell.toDouble();
    return std::isfinite(value) ? QString::number(value, 'g', QLocale::FloatingPointShortest)
                                : QString();
}

QByteArray toCsv(const PlotTable& table) {
    QString text;
    const auto addRow = [&text](const auto& cells) {
        bool isFirst = true;
        for (const auto& cell : cells) {
            if (!isFirst)
                text += QChar(',');
            text += csvCell(cell);
            isFirst = false;
        }
        text += QStringLiteral("\r\n");
    };
    addRow(table.header);
    for (const std::vector<QVariant>& row : table.rows)
        addRow(row);
    return text.toUtf8();
}

void PlotTableModel::setTable(PlotTable table) {
    beginResetModel();
    m_table = std::move(table);
    endResetModel();
}

int PlotTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_table.rows.size());
}

int PlotTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_table.header.size());
}

QVariant PlotTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const std::vector<QVariant>& row = m_table.rows[static_cast<std::size_t>(index.row())];
    const auto column = static_cast<std::size_t>(index.column());
    if (column >= row.size())
        return {};
    const QVariant& cell = row[column];
    if (role == Qt::DisplayRole)
        return cellText(cell);
    if (role == Qt::TextAlignmentRole)
        return QVariant(
            Qt::Alignment(Qt::AlignVCenter | (isNumber(cell) ? Qt::AlignRight : Qt::AlignLeft)));
    return {};
}

QVariant PlotTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole || orientation != Qt::Horizontal)
        return QAbstractTableModel::headerData(section, orientation, role);
    return m_table.header.value(section);
}

} // namespace ui
