// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/layer_map/grid/layer_map_model.h"
#include "ui/views/skip_sets/compare/set_comparison.h"

#include <QWidget>

#include <optional>
#include <vector>

class QLabel;
class QPushButton;

namespace ui {

class LayerGrid;
class LayerLegend;

/// Two skip sets in one grid, whose cells have four states, and how much they have in common.
/// Thread: UI.
class ComparisonPane : public QWidget {
    Q_OBJECT

public:
    explicit ComparisonPane(const Theme& theme, QWidget* parent = nullptr);

    /// Nothing is shown without one. `silentCopies` are those of a lesson model.
    void setComparison(const std::optional<SetComparison>& comparison,
                       const std::vector<int>& silentCopies = {});

    const std::optional<SetComparison>& comparison() const { return m_comparison; }

    LayerGrid& grid() { return *m_grid; }

    LayerMapModel& model() { return m_model; }

signals:
    void runAsked();
    void closed();

private:
    void restyle();
    void showCurrent();

    const Theme& m_theme;
    std::optional<SetComparison> m_comparison;
    LayerMapModel m_model;
    QLabel* m_names;
    LayerGrid* m_grid;
    LayerLegend* m_legend;
    QLabel* m_numbers;
    QLabel* m_cell; ///< the current cell in words
    QPushButton* m_run;
    QPushButton* m_close;
};

} // namespace ui
