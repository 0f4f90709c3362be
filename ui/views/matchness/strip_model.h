// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QAbstractTableModel>
#include <QString>

#include <vector>

namespace ui {

/// A token of the window that candidates are scored on, and the draft's prediction for it.
struct StripCell {
    QString token;
    QString guess; ///< empty = not known
    bool isMatch = false;

    bool operator==(const StripCell&) const = default;
};

/// The window's tokens, line after line, as many in a line as fit. Thread: UI.
class StripModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Role { GuessRole = Qt::UserRole, IsMatchRole };

    using QAbstractTableModel::QAbstractTableModel;

    /// Returns whether they have changed.
    bool setCells(std::vector<StripCell> cells);
    void setColumns(int count);

    const std::vector<StripCell>& cells() const { return m_cells; }

    int matchCount() const;

    int missCount() const { return static_cast<int>(m_cells.size()) - matchCount(); }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

private:
    const StripCell* cellAt(const QModelIndex& index) const;
    QString spokenText(const QModelIndex& index, const StripCell& cell) const;

    std::vector<StripCell> m_cells;
    int m_columns = 1;
};

} // namespace ui
