// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/plot_parts.h"
#include "ui/views/tune/curves/tune_view.h"

#include <functional>
#include <vector>

namespace ui {

class LinePlot;

/// A line over the steps of a training.
struct TuneCurve {
    SeriesForm form;
    std::function<std::vector<PlotPoint>(const TuningRun&)> points;
    std::function<QString(double)> label = {}; ///< beside its newest point; none = no label
};

/// A value that a curve has to reach.
struct TuneLine {
    QString name; ///< a column of the table
    ReferenceLine look;
};

/// What a view of curves shows.
struct TunePlot {
    ViewInfo info;
    std::function<QString(const TuningRun&)> subtitle;
    AxisForm y;
    std::vector<TuneCurve> curves;
    std::function<std::vector<TuneLine>(const TuningSession&)> lines = {};
    /// Of y, for the points of the curves and those of the lines behind them.
    std::function<PlotRange(const std::vector<std::vector<PlotPoint>>&)> range;
    EmptyNote note;
    std::function<QString(const TuningRun&)> summary; ///< for screen readers
};

TunePlot lossPlot();
TunePlot acceptancePlot();
TunePlot roundPlot();

/// Curves over the steps of a training. Thread: UI.
class TuneCurveView : public TuneView {
    Q_OBJECT

public:
    TuneCurveView(const ViewContext& context,
                  const TuningSession& session,
                  TunePlot plot,
                  QWidget* parent = nullptr);

    FigureTable table() const override;

    LinePlot& plot() { return *m_plot; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void showRun() override;

private:
    TunePlot m_content;
    LinePlot* m_plot;
    std::vector<std::vector<PlotPoint>> m_points; ///< [curves]
    std::vector<TuneLine> m_lines;
};

} // namespace ui
