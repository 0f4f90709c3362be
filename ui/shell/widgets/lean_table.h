// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QTableView>

namespace ui {

/// A table whose cells all change with every picture: its delegate alone paints them with their
/// backgrounds, without asking the style about each cell. Everything else is as in QTableView.
/// Thread: UI.
class LeanTable : public QTableView {
    Q_OBJECT

public:
    /// The theme must live longer.
    explicit LeanTable(const Theme& theme, QWidget* parent = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void paintRow(QPainter& painter, int row, const QRect& seen, QStyleOptionViewItem& option);

    const Theme& m_theme;
};

} // namespace ui
