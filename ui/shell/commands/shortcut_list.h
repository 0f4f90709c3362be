// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/commands/action_catalog.h"
#include "ui/theme/theme.h"

#include <QAbstractTableModel>
#include <QDialog>

class QKeySequenceEdit;
class QLabel;
class QLineEdit;
class QPushButton;
class QSortFilterProxyModel;
class QTableView;

namespace ui {

/// All actions with their keys: the cheat sheet.
class ShortcutModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { Action, Keys, Group, ColumnCount };

    explicit ShortcutModel(ActionCatalog& catalog, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    /// The id of the action in this row.
    QString id(int row) const;

private:
    ActionCatalog& m_catalog;
};

/// The searchable list of keys. Those of the selected action can be changed, taken away and reset;
/// conflicts are shown.
class ShortcutList : public QDialog {
    Q_OBJECT

public:
    ShortcutList(const Theme& theme, ActionCatalog& catalog, QWidget* parent = nullptr);

    void done(int result) override;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QString chosenId() const;
    void showChosen();
    void changeKeys();
    void takeKeysAway();

    ActionCatalog& m_catalog;
    ShortcutModel* m_model;
    QSortFilterProxyModel* m_filtered;
    QLineEdit* m_search;
    QTableView* m_table;
    QKeySequenceEdit* m_keys;
    QPushButton* m_reset;
    QPushButton* m_none;
    QLabel* m_conflict;
    QString m_shownId; ///< the action whose keys are in the field
};

} // namespace ui
