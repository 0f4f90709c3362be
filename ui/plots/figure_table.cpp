// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/figure_table.h"

#include "ui/theme/tip_text.h"

#include <QLocale>

#include <cmath>

namespace ui {

namespace {

constexpr int kLongestTip = 2000; ///< letters

bool isNumber(const QString& cell) {
    bool isNumber = false;
    cell.toDouble(&isNumber);
    return isNumber;
}

/// With as many digits as anybody reads; the tool tip, copies and files have them all.
QString readableCell(const QString& cell) {
    constexpr int kDigits = 6;
    bool isNumber = false;
    const double number = cell.toDouble(&isNumber);
    const bool isLong = isNumber && cell.size() > kDigits + 2 && cell.contains(u'.');
    return isLong ? QString::number(number, 'g', kDigits) : cell;
}

QString csvCell(QString text) {
    if (isNumber(text) && text == text.trimmed()) // a token may be a digit and a line's end
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

QString numberCell(double number) {
    return std::isfinite(number) ? QString::number(number, 'g', QLocale::FloatingPointShortest)
                                 : QString();
}

QByteArray toCsv(const FigureTable& table) {
    QString text;
    const auto addRow = [&text](const QStringList& cells) {
        bool isFirst = true;
        for (const QString& cell : cells) {
            if (!isFirst)
                text += QChar(',');
            text += csvCell(cell);
            isFirst = false;
        }
        text += QStringLiteral("\r\n");
    };
    addRow(table.header);
    for (const QStringList& row : table.rows)
        addRow(row);
    return text.toUtf8();
}

void FigureTableModel::setTable(FigureTable table) {
    beginResetModel();
    m_table = std::move(table);
    endResetModel();
}

int FigureTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_table.rows.size());
}

int FigureTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_table.header.size());
}

QVariant FigureTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const QStringList& row = m_table.rows[static_cast<std::size_t>(index.row())];
    const QString cell = row.value(index.column());
    if (role == Qt::DisplayRole)
        return readableCell(cell);
    if (role == Qt::ToolTipRole && isNumber(cell))
        return readableCell(cell) != cell ? cell : QVariant(); // all digits
    if (role == Qt::ToolTipRole && !cell.isEmpty())            // texts may be cut
        return tipOf(cell.left(kLongestTip));
    if (role == Qt::TextAlignmentRole)
        return QVariant(
            Qt::Alignment(Qt::AlignVCenter | (isNumber(cell) ? Qt::AlignRight : Qt::AlignLeft)));
    return {};
}

QVariant FigureTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole || orientation != Qt::Horizontal)
        return QAbstractTableModel::headerData(section, orientation, role);
    return m_table.header.value(section);
}

} // namespace ui
