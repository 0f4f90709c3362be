// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/layer_map/grid/grid_geometry.h"

#include <QTableView>
#include <QWidget>

#include <optional>

namespace ui {

/// The layer map on the screen: a table that fits its width, with row names and layer numbers.
/// Space or a double-click toggles a cell, a click or Return pins its card. Thread: UI.
class LayerGrid : public QWidget {
    Q_OBJECT

public:
    LayerGrid(const Theme& theme, LayerMapModel& model, QWidget* parent = nullptr);

    QTableView& table() { return m_table; }

    bool isMini() const { return m_geometry.isMini; }

    /// Under the pointer, else under the keyboard's focus, else the pinned one.
    std::optional<Cell> current() const;

    void setPinned(std::optional<Cell> cell);

    /// In this widget's coordinates.
    QRect cellRect(const Cell& cell) const { return m_geometry.cell(cell); }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void currentChanged();

    /// From the narrow form to the full one, or back.
    void formChanged();
    void chosen(const ui::Cell& cell);
    void flipRequested(const ui::Cell& cell);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    bool handleKey(int key);
    void noteFocus(const QFocusEvent& event);
    void keepPlace();
    void onReset();
    void arrange();
    void noteCurrent();
    void setHovered(std::optional<Cell> cell);

    const Theme& m_theme;
    LayerMapModel& m_model;
    QTableView m_table;
    GridGeometry m_geometry;
    std::optional<Cell> m_hovered;
    std::optional<Cell> m_pinned;
    bool m_isByKeyboard = false;        ///< the keyboard was used last, so its cell counts
    std::optional<Cell> m_shownCurrent; // that was painted as such
    std::optional<Cell> m_placeBefore;  // the keyboard's, before the model was reset
    int m_layersBefore = 0;             // likewise
};

} // namespace ui
