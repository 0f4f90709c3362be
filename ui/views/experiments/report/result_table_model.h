// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/report/experiment_result.h"

#include <QAbstractTableModel>

class QTableView;

namespace ui {

/// A table of a result. A measured value is shown as its text; the tool tip has its interval.
/// Thread: UI.
class ResultTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    void setTable(engine::ResultTable table);

    const engine::ResultTable& table() const { return m_table; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    /// Null where a row is too short.
    const engine::ResultCell* cell(const QModelIndex& index) const;
    bool isWords(int column) const;

    engine::ResultTable m_table;
};

/// The selected cells of a table view, or all of them, as text that a spreadsheet takes.
QString copiedCells(const QTableView& view);

} // namespace ui
