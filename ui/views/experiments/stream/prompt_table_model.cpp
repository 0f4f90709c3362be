// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/stream/prompt_table_model.h"

#include "ui/shell/figure_text.h"
#include "ui/theme/tip_text.h"

#include <algorithm>
#include <span>
#include <utility>

namespace ui {

namespace {

/// Whether a column holds words, which stand at the left and are cut where they have no room.
bool isWords(int column) {
    return column == PromptTableModel::Task || column == PromptTableModel::Text ||
           column == PromptTableModel::DraftedBy;
}

/// The figure by which a column is sorted; none for words.
std::optional<double> figureOf(const PromptRow& row, int column) {
    switch (column) {
    case PromptTableModel::Prompt:
        return row.prompt;
    case PromptTableModel::Tokens:
        return static_cast<double>(row.tokens);
    case PromptTableModel::M:
        return row.tokensPerRound;
    case PromptTableModel::Accepted:
        return static_cast<double>(row.accepted);
    case PromptTableModel::Acceptance:
        return row.acceptance();
    case PromptTableModel::Speed:
        return row.speed;
    default:
        return std::nullopt;
    }
}

QString cellText(const PromptRow& row, int column) {
    switch (column) {
    case PromptTableModel::Prompt:
        return QString::number(row.prompt);
    case PromptTableModel::Task:
        return row.task;
    case PromptTableModel::Text:
        return row.text;
    case PromptTableModel::Tokens:
        return QString::number(row.tokens);
    case PromptTableModel::M:
        return row.tokensPerRound ? decimalText(*row.tokensPerRound) : QString();
    case PromptTableModel::Accepted:
        return QStringLiteral("%1/%2").arg(row.accepted).arg(row.drafted);
    case PromptTableModel::Acceptance:
        return row.acceptance() ? shareText(*row.acceptance()) : QString();
    case PromptTableModel::Speed:
        return row.speed ? factorText(*row.speed) : QStringLiteral("\u2013");
    case PromptTableModel::DraftedBy:
        return row.draftedBy.isEmpty() ? QStringLiteral("\u2013") : row.draftedBy;
    default:
        return {};
    }
}

} // namespace

void PromptTableModel::setRows(const std::vector<PromptRow>& rows) {
    const bool isLonger =
        rows.size() >= m_rows.size() && std::ranges::equal(m_rows,
                                                           std::span(rows).first(m_rows.size()),
                                                           {},
                                                           &PromptRow::prompt,
                                                           &PromptRow::prompt);
    if (!isLonger) {
        beginResetModel();
        m_rows = rows;
        endResetModel();
        return;
    }
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        if (m_rows[i] != rows[i]) {
            m_rows[i] = rows[i];
            emit dataChanged(index(static_cast<int>(i), 0),
                             index(static_cast<int>(i), ColumnCount - 1));
        }
    if (rows.size() == m_rows.size())
        return;
    beginInsertRows({}, static_cast<int>(m_rows.size()), static_cast<int>(rows.size()) - 1);
    m_rows = rows;
    endInsertRows();
}

int PromptTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int PromptTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant PromptTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const PromptRow& row = m_rows[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return cellText(row, index.column());
    case Qt::ToolTipRole:
        if (index.column() == Speed && !row.speed)
            return tr("No figure: vanilla was not measured beside it, or its speed changed by more "
                      "than 5 %.");
        if (index.column() == DraftedBy && row.draftedBy.isEmpty())
            return tr("This run was made by an earlier version, whose files do not say so.");
        return isWords(index.column()) ? tipOf(cellText(row, index.column())) : QVariant();
    case Qt::TextAlignmentRole:
        return int((isWords(index.column()) ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    default:
        return {};
    }
}

QVariant PromptTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    static const char* const kNames[] = {QT_TR_NOOP("Prompt"),
                                         QT_TR_NOOP("Task"),
                                         QT_TR_NOOP("Text"),
                                         QT_TR_NOOP("Tokens"),
                                         QT_TR_NOOP("M"),
                                         QT_TR_NOOP("Accepted / drafted"),
                                         QT_TR_NOOP("Acceptance"),
                                         QT_TR_NOOP("Speed"),
                                         QT_TR_NOOP("Drafted by")};
    if (role == Qt::DisplayRole)
        return tr(kNames[section]);
    if (role == Qt::TextAlignmentRole)
        return int((isWords(section) ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    return {};
}

bool PromptTableModel::isBelow(int first, int second, int column) const {
    const PromptRow& a = m_rows[static_cast<std::size_t>(first)];
    const PromptRow& b = m_rows[static_cast<std::size_t>(second)];
    if (isWords(column))
        return QString::localeAwareCompare(cellText(a, column), cellText(b, column)) < 0;
    return figureOf(a, column) < figureOf(b, column);
}

SliceModel::SliceModel(PromptTableModel& prompts, QObject* parent)
    : QSortFilterProxyModel(parent)
    , m_prompts(prompts) {
    setSourceModel(&prompts);
    setDynamicSortFilter(true);
}

void SliceModel::setSlice(PromptSlice slice) {
    m_slice = std::move(slice);
    invalidateFilter();
}

std::vector<PromptRow> SliceModel::shownRows() const {
    std::vector<PromptRow> rows;
    for (int row = 0; row < rowCount(); ++row)
        rows.push_back(
            m_prompts.rows()[static_cast<std::size_t>(mapToSource(index(row, 0)).row())]);
    return rows;
}

/// With all digits, and the counts of a pair in columns of their own.
FigureTable SliceModel::table() const {
    FigureTable table;
    table.header = {tr("prompt"),
                    tr("task"),
                    tr("text"),
                    tr("tokens"),
                    tr("M"),
                    tr("accepted"),
                    tr("drafted"),
                    tr("acceptance"),
                    tr("speedup"),
                    tr("tokens per second"),
                    tr("drafted by")};
    const auto cell = [](const std::optional<double>& figure) {
        return figure ? numberCell(*figure) : QString();
    };
    for (const PromptRow& row : shownRows())
        table.rows.push_back({QString::number(row.prompt),
                              row.task,
                              row.text,
                              QString::number(row.tokens),
                              cell(row.tokensPerRound),
                              QString::number(row.accepted),
                              QString::number(row.drafted),
                              cell(row.acceptance()),
                              cell(row.speed),
                              cell(row.tokensPerSecond),
                              row.draftedBy});
    return table;
}

bool SliceModel::filterAcceptsRow(int row, const QModelIndex&) const {
    return m_slice.contains(m_prompts.rows()[static_cast<std::size_t>(row)]);
}

bool SliceModel::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    return m_prompts.isBelow(left.row(), right.row(), left.column());
}

} // namespace ui
