// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/draft_tree/mask_table.h"

#include "ui/origin/token_mark.h"
#include "ui/theme/tip_text.h"
#include "ui/views/draft_tree/draft_comb.h"

#include <QPainter>

#include <algorithm>

namespace ui {

using namespace engine;

MaskModel::MaskModel(const Theme& theme, QObject* parent)
    : QAbstractTableModel(parent)
    , m_theme(theme) {}

std::vector<MaskModel::Row> MaskModel::rowsOf(const StepFinished& step, const QString& rootText) {
    std::vector<std::vector<bool>> sees = verificationMask(step);
    std::vector<Row> rows;
    rows.push_back({rootText.isEmpty() ? tr("prompt") : visibleTokenText(rootText), {}, true});
    for (std::size_t i = 0; i < step.draft.size(); ++i)
        rows.push_back(
            {draftedText(step, i), {}, std::ranges::count(step.path, static_cast<int>(i)) > 0});
    for (std::size_t i = 0; i < step.sides.size(); ++i)
        rows.push_back({sideText(step, i), {}, false, true});
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i].sees = std::move(sees[i]);
    return rows;
}

void MaskModel::show(const StepFinished* step, const QString& rootText) {
    std::vector<Row> rows;
    if (step != nullptr)
        rows = rowsOf(*step, rootText);
    if (rows == m_rows)
        return;
    const auto count = static_cast<int>(rows.size());
    if (count < m_rowCount)
        resizeTo(count); // while the removed rows still exist
    const std::vector<Row> before = std::exchange(m_rows, std::move(rows));
    if (count > m_rowCount)
        resizeTo(count);
    tellChanges(before);
}

/// Rows and columns are added and removed at the end.
void MaskModel::resizeTo(int count) {
    const int before = m_rowCount;
    if (count > before) {
        beginInsertRows({}, before, count - 1);
        m_rowCount = count;
        endInsertRows();
        beginInsertColumns({}, before, count - 1);
        m_columnCount = count;
        endInsertColumns();
        return;
    }
    beginRemoveRows({}, count, before - 1);
    m_rowCount = count;
    endRemoveRows();
    beginRemoveColumns({}, count, before - 1);
    m_columnCount = count;
    endRemoveColumns();
}

/// For the rows that existed before and still do.
void MaskModel::tellChanges(const std::vector<Row>& before) {
    const auto kept = static_cast<int>(std::min(before.size(), m_rows.size()));
    int first = kept;
    int last = -1;
    for (int row = 0; row < kept; ++row) {
        if (before[static_cast<std::size_t>(row)] == m_rows[static_cast<std::size_t>(row)])
            continue;
        first = std::min(first, row);
        last = row;
    }
    if (last < 0)
        return;
    emit dataChanged(index(first, 0), index(last, m_columnCount - 1));
    emit headerDataChanged(Qt::Vertical, first, last);
}

int MaskModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : m_rowCount;
}

int MaskModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : m_columnCount;
}

bool MaskModel::sees(int row, int column) const {
    const std::vector<bool>& seen = m_rows[static_cast<std::size_t>(row)].sees;
    const auto place = static_cast<std::size_t>(column);
    return place < seen.size() && seen[place];
}

bool MaskModel::isAccepted(int row) const {
    return m_rows[static_cast<std::size_t>(row)].isAccepted;
}

bool MaskModel::isBeside(int row) const { return m_rows[static_cast<std::size_t>(row)].isBeside; }

QVariant MaskModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const bool isSeen = sees(index.row(), index.column());
    switch (role) {
    case Qt::DisplayRole:
        return isSeen ? QStringLiteral("\u25CF") : QString();
    case Qt::AccessibleTextRole:
        return (isSeen ? tr("%1 sees %2") : tr("%1 does not see %2"))
            .arg(m_rows[static_cast<std::size_t>(index.row())].text,
                 m_rows[static_cast<std::size_t>(index.column())].text);
    default:
        return {};
    }
}

QVariant MaskModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (section < 0 || section >= static_cast<int>(m_rows.size()))
        return {};
    const Row& row = m_rows[static_cast<std::size_t>(section)];
    switch (role) {
    case Qt::DisplayRole:
        return orientation == Qt::Vertical ? row.text : QString::number(section);
    case Qt::ToolTipRole:
        return tipOf(row.isBeside
                         ? tr("%1: not part of the draft, cannot be accepted").arg(row.text)
                         : row.text);
    case Qt::ForegroundRole:
        return row.isBeside ? QVariant(m_theme.colours().muted) : QVariant();
    default:
        return {};
    }
}

MaskDelegate::MaskDelegate(const Theme& theme, const MaskModel& model, QObject* parent)
    : QAbstractItemDelegate(parent)
    , m_theme(theme)
    , m_model(model) {}

void MaskDelegate::paint(QPainter* painter,
                         const QStyleOptionViewItem& option,
                         const QModelIndex& index) const {
    const Colours& colours = m_theme.colours();
    const bool isSeen = m_model.sees(index.row(), index.column());
    const bool isAccepted = m_model.isAccepted(index.row());
    if (isSeen && isAccepted)
        painter->fillRect(option.rect, colours.accepted);
    else if ((option.state & QStyle::State_Selected) != 0)
        painter->fillRect(option.rect, colours.selection);
    if (!isSeen)
        return;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    painter->setBrush(isAccepted                      ? colours.acceptedLine
                      : m_model.isBeside(index.row()) ? colours.disabled
                                                      : colours.muted);
    const double radius = m_theme.scaled(5) / 2.0;
    painter->drawEllipse(QRectF(option.rect).center(), radius, radius);
    painter->restore();
}

QSize MaskDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const {
    return {m_theme.scaled(24), m_theme.scaled(22)};
}

} // namespace ui
