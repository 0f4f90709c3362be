// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/report/figures/draw_figure.h"
#include "ui/experiments/runs/run_picture.h"
#include "ui/shell/docks/view.h"

#include <QRectF>

#include <optional>
#include <string>
#include <vector>

namespace ui {

/// A cell of a matrix by the names of its row and its column. A plain value.
struct MatrixCell {
    std::string row;
    std::string column;

    bool operator==(const MatrixCell&) const = default;
};

/// Whether the figure is one matrix that has the same tasks in its rows and its columns.
bool isTaskMatrix(const engine::ResultFigure& figure);

/// A figure of a result, drawn by the report's engine in the theme's colours. As high as it needs
/// to be in its width. In a matrix of tasks a cell is chosen with the mouse and the arrow keys.
/// Thread: UI.
class FigureView : public View {
    Q_OBJECT

public:
    FigureView(const ViewContext& context, ResultFigurePtr figure, QWidget* parent = nullptr);

    void setFigure(ResultFigurePtr figure);

    const engine::ResultFigure& figure() const { return *m_figure; }

    /// Draws this in the place of the figure, whose numbers the table keeps: a moment of a film.
    void setStill(engine::ResultFigure still);

    /// Whether a paper's own values are shown beside ours.
    void setOverlay(bool isShown);

    /// Outlines the chosen cell; a screen reader reads what it means.
    void setCell(const std::optional<MatrixCell>& cell, const QString& meaning);

    const std::optional<MatrixCell>& cell() const { return m_cell; }

    /// In this widget's coordinates; empty if the figure has no such cell.
    QRectF cellRect(const MatrixCell& cell) const;

    /// Null if nothing was measured there.
    const engine::Estimate* value(const MatrixCell& cell) const;

    FigureTable table() const override;
    void drawFigure(QPainter& painter, const QSize& size) override;

    const engine::Drawing& drawing() const { return m_drawing; }

    bool hasHeightForWidth() const override { return true; }

    int heightForWidth(int width) const override;
    QSize sizeHint() const override;

signals:
    /// By setFigure().
    void figureChanged();

    /// The user has chosen a cell; setCell() shows it.
    void cellChosen(const ui::MatrixCell& cell);

    /// Enter in the chosen cell.
    void cellOpened();

protected:
    void refreshView(Topics changed) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    engine::Drawing draw(int width) const;
    void describe();
    void paintChosen(QPainter& painter) const;

    /// Of a matrix of tasks, row by row.
    std::vector<QRectF> cellRects() const;
    std::optional<std::size_t> placeOf(const MatrixCell& cell) const;
    void choosePlace(std::size_t place);
    void moveCell(int down, int right);

    ResultFigurePtr m_figure; ///< never null
    std::optional<engine::ResultFigure> m_still;
    engine::Drawing m_drawing;
    bool m_hasOverlay = true;
    std::optional<MatrixCell> m_cell;
    QString m_meaning; ///< of the chosen cell
};

/// A table of numbers as the window's tables of pictures have it.
FigureTable figureTableOf(const engine::ResultTable& table);

} // namespace ui
