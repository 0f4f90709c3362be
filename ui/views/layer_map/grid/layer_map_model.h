// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/layer_map/grid/cell_painter.h"
#include "ui/views/layer_map/skip_set_facts.h"

#include <QAbstractTableModel>

namespace ui {

/// Which of two compared sets skip a cell: "both", "only A", "only B", "neither".
QString comparedWords(const CellLook& look);

/// The layer map as a table of two rows, attention and MLP, and a column for each layer; behind
/// them one for a layer that drafts beside the model, if there is one. A cell's text is its
/// accessible text. Thread: UI.
class LayerMapModel : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    const LayerMapState& state() const { return m_state; }

    /// Signals only the cells that have changed.
    void setState(const LayerMapState& state);

    CellLook look(const Cell& cell) const;

    /// "Layer 3, attention, skipped, differs from the live set".
    QString words(const Cell& cell) const;

    static Cell cellAt(const QModelIndex& index);

    QModelIndex indexOf(const Cell& cell) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    LayerMapState m_state;
};

} // namespace ui
