// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/experiments/stream/run_view.h"
#include "ui/views/experiments/stream/task_tiles.h"

class QLabel;

namespace ui {

class TileCanvas;

/// Small multiples: the layer map of each task's newest set, with its speed. Arrows move among the
/// tasks, Enter shows a task's prompts. Thread: UI.
class TaskTilesView : public RunView {
    Q_OBJECT

public:
    explicit TaskTilesView(const ViewContext& context, QWidget* parent = nullptr);

    QWidget* makeLegend(QWidget* parent) override;
    FigureTable table() const override;
    void drawFigure(QPainter& painter, const QSize& size) override;

    /// Whether the run goes on at this moment; the next picture shows it.
    void setAtWork(bool isAtWork) { m_isAtWork = isAtWork; }

    const std::vector<TaskTile>& tiles() const { return m_tiles; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// The user wants to see the prompts of a task.
    void taskChosen(const QString& task);

protected:
    void showPicture() override;

private:
    std::vector<TaskTile> m_tiles;
    QLabel* m_none; ///< what is seen here later
    TileCanvas* m_canvas;
    bool m_isAtWork = false;
};

} // namespace ui
