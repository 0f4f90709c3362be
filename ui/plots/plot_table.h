// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <QVariant>

#include <vector>

namespace ui {

/// The twin of a picture: what it shows, as rows. Cells are numbers or texts; invalid = empty.
struct PlotTable {
    QStringList header;
    std::vector<std::vector<QVariant>> rows; ///< [rows][header]
};

/// A cell as text: numbers as short as they can be read back.
QString cellText(const QVariant& cell);

/// Comma-separated values as RFC 4180 has them, UTF-8. A text that a spreadsheet would take for a
/// formula (it begins with = + - @ tab or carriage return) is quoted behind an apostrophe.
QByteArray toCsv(const PlotTable& table);

/// A PlotTable for a QTableView. Thread: UI.
class PlotTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    void setTable(PlotTable table);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    PlotTable m_table;
};

} // namespace ui
