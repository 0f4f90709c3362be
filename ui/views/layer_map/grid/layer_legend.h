// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/layer_map/grid/cell_painter.h"

#include <QWidget>

#include <vector>

namespace ui {

/// Samples of cells and what they mean, in one line; the last ones are left out where it is
/// narrow. Thread: UI.
class LayerLegend : public QWidget {
    Q_OBJECT

public:
    struct Item {
        CellLook look;
        QString text;
        bool isOutlineOnly = false;

        bool operator==(const Item& other) const {
            return text == other.text && look.kind == other.look.kind;
        }
    };

    explicit LayerLegend(const Theme& theme, QWidget* parent = nullptr);

    void setItems(std::vector<Item> items);

    const std::vector<Item>& items() const { return m_items; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

    /// Paints it from the left into an area; the same for widgets and files.
    void paint(QPainter& painter, const QRect& area) const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int widthOf(const Item& item) const;

    const Theme& m_theme;
    std::vector<Item> m_items;
};

/// What a map marks besides skipped and kept.
std::vector<LayerLegend::Item> markItems(const LayerMapState& state);

} // namespace ui
