// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/prompt_slice.h"
#include "ui/plots/figure_table.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

namespace ui {

/// The prompts of a run that were answered, as a table. Thread: UI.
class PromptTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column {
        Prompt,
        Task,
        Text,
        Tokens,
        M,
        Accepted,
        Acceptance,
        Speed,
        DraftedBy,
        ColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;

    /// Rows in the order of the run. New ones at the end are inserted, others are changed.
    void setRows(const std::vector<PromptRow>& rows);

    const std::vector<PromptRow>& rows() const { return m_rows; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    /// Compares rows as numbers where they have some; a figure that was not measured is below all.
    bool isBelow(int first, int second, int column) const;

private:
    std::vector<PromptRow> m_rows;
};

/// The rows of a slice, in the order of a column. Thread: UI.
class SliceModel : public QSortFilterProxyModel {
    Q_OBJECT

public:
    explicit SliceModel(PromptTableModel& prompts, QObject* parent = nullptr);

    void setSlice(PromptSlice slice);

    const PromptSlice& slice() const { return m_slice; }

    /// The prompts shown, in the order shown.
    std::vector<PromptRow> shownRows() const;

    FigureTable table() const;

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    PromptTableModel& m_prompts;
    PromptSlice m_slice;
};

} // namespace ui
