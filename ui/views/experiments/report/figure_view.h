// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/report/figures/draw_figure.h"
#include "ui/shell/docks/view.h"

namespace ui {

/// A figure of a result, drawn by the report's engine in the theme's colours. As high as it needs
/// to be in its width. Thread: UI.
class FigureView : public View {
    Q_OBJECT

public:
    FigureView(const ViewContext& context, engine::ResultFigure figure, QWidget* parent = nullptr);

    void setFigure(engine::ResultFigure figure);

    const engine::ResultFigure& figure() const { return m_figure; }

    /// Whether a paper's own values are shown beside ours.
    void setOverlay(bool isShown);

    FigureTable table() const override;
    void drawFigure(QPainter& painter, const QSize& size) override;

    const engine::Drawing& drawing() const { return m_drawing; }

    bool hasHeightForWidth() const override { return true; }

    int heightForWidth(int width) const override;
    QSize sizeHint() const override;

protected:
    void refreshView(Topics changed) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    engine::Drawing draw(int width) const;
    engine::ResultFigure shownFigure() const;

    engine::ResultFigure m_figure;
    engine::Drawing m_drawing;
    bool m_hasOverlay = true;
};

/// A table of numbers as the window's tables of pictures have it.
FigureTable figureTableOf(const engine::ResultTable& table);

} // namespace ui
