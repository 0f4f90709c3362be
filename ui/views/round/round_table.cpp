// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/round/round_table.h"

#include "ui/origin/token_mark.h"

#include <cmath>

namespace ui {

using namespace engine;

namespace {

QString tokenText(const ShownToken& token) {
    if (token.id == kNoToken)
        return {};
    return token.text.empty() ? QStringLiteral("#%1").arg(token.id)
                              : visibleTokenText(QString::fromStdString(token.text));
}

QString numberText(double number) {
    constexpr double kLargestWhole = 1e9;
    if (!std::isfinite(number))
        return QStringLiteral("–");
    const bool isWhole = number == std::trunc(number) && std::abs(number) < kLargestWhole;
    return isWhole ? QString::number(static_cast<qint64>(number)) : QString::number(number, 'f', 3);
}

} // namespace

QString cellText(const ShownCell& cell) {
    if (const auto* token = std::get_if<ShownToken>(&cell))
        return tokenText(*token);
    if (const auto* number = std::get_if<double>(&cell))
        return numberText(*number);
    return QString::fromStdString(std::get<std::string>(cell));
}

RoundTableModel::RoundTableModel(const Theme& theme, QObject* parent)
    : QAbstractTableModel(parent)
    , m_theme(theme) {}

void RoundTableModel::show(ShownTable table) {
    const bool isSameShape =
        table.columns == m_table.columns && table.rows.size() == m_table.rows.size();
    if (!isSameShape) {
        beginResetModel();
        m_table = std::move(table);
        endResetModel();
        return;
    }
    m_table = std::move(table);
    if (rowCount() > 0 && columnCount() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    if (rowCount() > 0)
        emit headerDataChanged(Qt::Vertical, 0, rowCount() - 1);
}

FigureTable RoundTableModel::figure() const {
    FigureTable figure;
    for (const std::string& column : m_table.columns)
        figure.header << QString::fromStdString(column);
    const bool hasChoice = m_table.chosenRow >= 0;
    if (hasChoice)
        figure.header << tr("acted upon");
    for (int row = 0; row < rowCount(); ++row) {
        QStringList cells;
        for (int column = 0; column < columnCount(); ++column) {
            const ShownCell* held = cell(index(row, column));
            const auto* number = held == nullptr ? nullptr : std::get_if<double>(held);
            cells << (held == nullptr     ? QString()
                      : number != nullptr ? numberCell(*number)
                                          : cellText(*held));
        }
        if (hasChoice)
            cells << (row == m_table.chosenRow ? tr("yes") : QString());
        figure.rows.push_back(std::move(cells));
    }
    return figure;
}

int RoundTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_table.rows.size());
}

int RoundTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_table.columns.size());
}

/// Null where a row is shorter than the heading.
const ShownCell* RoundTableModel::cell(const QModelIndex& index) const {
    const auto& row = m_table.rows[static_cast<std::size_t>(index.row())];
    const auto column = static_cast<std::size_t>(index.column());
    return column < row.size() ? &row[column] : nullptr;
}

QVariant RoundTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const ShownCell* held = cell(index);
    const bool isChosen = index.row() == m_table.chosenRow;
    switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
        return held == nullptr ? QString() : cellText(*held);
    case Qt::TextAlignmentRole:
        return QVariant(Qt::AlignVCenter |
                        (held != nullptr && std::holds_alternative<double>(*held) ? Qt::AlignRight
                                                                                  : Qt::AlignLeft));
    case Qt::BackgroundRole:
        return isChosen ? QVariant(m_theme.colours().selection) : QVariant();
    case Qt::ForegroundRole:
        return m_theme.colours().text;
    case Qt::AccessibleTextRole: {
        const QString text = held == nullptr ? QString() : cellText(*held);
        const QString heading =
            headerData(index.column(), Qt::Horizontal, Qt::DisplayRole).toString();
        const QString words = tr("%1: %2").arg(heading, text.isEmpty() ? tr("nothing") : text);
        return isChosen ? tr("%1, acted upon").arg(words) : words;
    }
    default:
        return {};
    }
}

QVariant RoundTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role == Qt::DisplayRole && orientation == Qt::Horizontal && section < columnCount())
        return QString::fromStdString(m_table.columns[static_cast<std::size_t>(section)]);
    if (orientation == Qt::Vertical && role == Qt::DisplayRole)
        return section == m_table.chosenRow ? QStringLiteral("\u25B8") : QString();
    if (orientation == Qt::Vertical && role == Qt::AccessibleTextRole)
        return section == m_table.chosenRow ? tr("Row %1, acted upon").arg(section + 1)
                                            : tr("Row %1").arg(section + 1);
    if (role == Qt::TextAlignmentRole && orientation == Qt::Horizontal)
        return QVariant(Qt::AlignVCenter | Qt::AlignLeft);
    return {};
}

} // namespace ui
