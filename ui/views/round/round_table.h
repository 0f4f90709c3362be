// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/session_records.h"
#include "ui/plots/figure_table.h"
#include "ui/theme/theme.h"

#include <QAbstractTableModel>

namespace ui {

/// A cell as people read it: a token with its blanks as signs, a number to three places.
QString cellText(const engine::ShownCell& cell);

/// A table that a decoder shows of its round, whatever it means. The row that was acted upon is
/// marked, in words too. Thread: UI.
class RoundTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    explicit RoundTableModel(const Theme& theme, QObject* parent = nullptr);

    /// Keeps the selection where only cells have changed.
    void show(engine::ShownTable table);

    const engine::ShownTable& shown() const { return m_table; }

    /// The same with all digits; a column more when a row is marked.
    FigureTable figure() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    const engine::ShownCell* cell(const QModelIndex& index) const;

    const Theme& m_theme;
    engine::ShownTable m_table;
};

} // namespace ui
