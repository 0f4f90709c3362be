// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/layer_map/history/history_columns.h"

#include <QSlider>

namespace ui {

/// A slider whose handle is in line with the columns above it: its values are columns, and it is as
/// wide as they are. Left and Right move by one column, with Shift by ten. Thread: UI.
class ColumnSlider : public QSlider {
    Q_OBJECT

public:
    explicit ColumnSlider(const Theme& theme, QWidget* parent = nullptr);

    /// The handle's position in this widget's coordinates.
    double handleX() const { return scale().centre(value()); }

    QSize sizeHint() const override;

signals:
    void playRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    ColumnScale scale() const { return {0.0, static_cast<double>(width()), maximum() + 1}; }

    const Theme& m_theme;
};

} // namespace ui
