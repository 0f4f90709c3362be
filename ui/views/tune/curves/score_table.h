// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/figure_table.h"
#include "ui/views/experiments/page/plain_table.h"

namespace ui {

/// Figures in rows. The first column takes what the others leave; where that is too little, the
/// table is scrolled. Thread: UI.
class ScoreTable : public PlainTable {
    Q_OBJECT

public:
    ScoreTable(const Theme& theme, const QString& name, QWidget* parent = nullptr);

    void setTable(FigureTable table);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitColumns();

    FigureTableModel* m_model;
};

} // namespace ui
