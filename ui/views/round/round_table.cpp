// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/round/round_table.h"

#include "ui/origin/token_mark.h"
#include "ui/theme/tip_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

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

RoundTableModel::RoundTableModel(QObject* parent)
    : QAbstractTableModel(parent) {}

void RoundTableModel::show(ShownTable table) {
    const auto count = static_cast<int>(table.rows.size());
    if (table.columns != m_table.columns) {
        beginResetModel();
        m_table = std::move(table);
        m_rowCount = count;
        m_texts.clear();
        for (std::size_t row = 0; row < m_table.rows.size(); ++row)
            m_texts.push_back(textsOf(row));
        endResetModel();
        return;
    }
    if (count < m_rowCount)
        resizeTo(count); // while the removed rows still exist
    const ShownTable before = std::exchange(m_table, std::move(table));
    const int kept = m_rowCount;
    m_texts.resize(m_table.rows.size());
    for (std::size_t row = 0; row < m_texts.size(); ++row)
        if (row >= before.rows.size() || before.rows[row] != m_table.rows[row])
            m_texts[row] = textsOf(row);
    if (count > m_rowCount)
        resizeTo(count);
    int first = kept;
    int last = -1;
    for (int row = 0; row < kept; ++row) {
        const auto place = static_cast<std::size_t>(row);
        const bool wasChosen = row == before.chosenRow;
        if (before.rows[place] == m_table.rows[place] && wasChosen == isChosen(row))
            continue;
        first = std::min(first, row);
        last = row;
    }
    if (last >= 0 && columnCount() > 0)
        emit dataChanged(index(first, 0), index(last, columnCount() - 1));
}

/// Rows come and go at the end.
void RoundTableModel::resizeTo(int count) {
    if (count > m_rowCount) {
        beginInsertRows({}, m_rowCount, count - 1);
        m_rowCount = count;
        endInsertRows();
        return;
    }
    beginRemoveRows({}, count, m_rowCount - 1);
    m_rowCount = count;
    endRemoveRows();
}

FigureTable RoundTableModel::figure() const {
    FigureTable figure;
    for (const std::string& column : m_table.columns)
        figure.header << QString::fromStdString(column);
    const bool hasChoice = m_table.chosenRow >= 0;
    if (hasChoice)
        figure.header << tr("used");
    for (int row = 0; row < rowCount(); ++row) {
        QStringList cells;
        for (int column = 0; column < columnCount(); ++column) {
            const ShownCell* held = cell(row, column);
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
    return parent.isValid() ? 0 : m_rowCount;
}

int RoundTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_table.columns.size());
}

/// Null where a row is shorter than the heading.
const ShownCell* RoundTableModel::cell(int row, int column) const {
    const auto& cells = m_table.rows[static_cast<std::size_t>(row)];
    const auto place = static_cast<std::size_t>(column);
    return place < cells.size() ? &cells[place] : nullptr;
}

QStringList RoundTableModel::textsOf(std::size_t row) const {
    QStringList texts;
    for (int column = 0; column < columnCount(); ++column) {
        const ShownCell* held = cell(static_cast<int>(row), column);
        texts << (held == nullptr ? QString() : cellText(*held));
    }
    return texts;
}

const QString& RoundTableModel::text(int row, int column) const {
    return m_texts[static_cast<std::size_t>(row)].at(column);
}

bool RoundTableModel::isNumeric(int column) const {
    for (int row = 0; row < m_rowCount; ++row)
        if (const ShownCell* held = cell(row, column))
            return std::holds_alternative<double>(*held);
    return false;
}

QVariant RoundTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const QString& words = text(index.row(), index.column());
    switch (role) {
    case Qt::DisplayRole:
        return words;
    case Qt::ToolTipRole:
        return tipOf(words);
    case Qt::AccessibleTextRole: {
        const QString heading =
            headerData(index.column(), Qt::Horizontal, Qt::DisplayRole).toString();
        const QString told = tr("%1: %2").arg(heading, words.isEmpty() ? tr("nothing") : words);
        return isChosen(index.row()) ? tr("%1, used").arg(told) : told;
    }
    default:
        return {};
    }
}

QVariant RoundTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation == Qt::Vertical)
        return {};
    if (role == Qt::DisplayRole && section < columnCount())
        return QString::fromStdString(m_table.columns[static_cast<std::size_t>(section)]);
    if (role == Qt::TextAlignmentRole)
        return QVariant(Qt::AlignVCenter | (isNumeric(section) ? Qt::AlignRight : Qt::AlignLeft));
    return {};
}

} // namespace ui
