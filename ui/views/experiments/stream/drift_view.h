// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/experiments/stream/run_view.h"

namespace ui {

class LinePlot;

/// Speed and acceptance along the prompts of a run, the tasks as bands. Thread: UI.
class DriftView : public RunView {
    Q_OBJECT

public:
    explicit DriftView(const ViewContext& context, QWidget* parent = nullptr);

    QWidget* makeLegend(QWidget* parent) override;
    FigureTable table() const override;

    LinePlot& speedPlot() { return *m_speed; }

    LinePlot& acceptancePlot() { return *m_acceptance; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// The user pointed at a prompt, numbered from 1.
    void promptChosen(int prompt);

protected:
    void showPicture() override;

private:
    LinePlot* makePlot(const QString& name);
    void showBands(const RunPicture& picture);
    static QString subtitleFor(const RunPicture* picture);
    void showPoints(const RunPicture& picture);
    void showSummary(const RunPicture& picture);

    LinePlot* m_speed;
    LinePlot* m_acceptance;
    int m_speedPoints = 0; ///< series
    int m_speedLine = 0;
    int m_changes = 0;
    int m_acceptancePoints = 0;
    int m_acceptanceLine = 0;
};

} // namespace ui
