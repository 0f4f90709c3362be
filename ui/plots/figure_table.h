// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QAbstractTableModel>
#include <QStringList>

#include <vector>

namespace ui {

/// The table of a picture: the same content as rows of texts and numbers. A plain value.
struct FigureTable {
    QStringList header;
    std::vector<QStringList> rows; ///< [rows][header]; an empty cell where nothing is known
};

/// A number with all its digits; empty for one that is not finite.
QString numberCell(double number);

/// Comma-separated values as RFC 4180 has them, UTF-8. A text that a spreadsheet would take for a
/// formula (it begins with = + - @ tab or carriage return) is quoted after an apostrophe; numbers
/// are not changed.
QByteArray toCsv(const FigureTable& table);

/// A FigureTable for a QTableView. Thread: UI.
class FigureTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    void setTable(FigureTable table);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    FigureTable m_table;
};

} // namespace ui
