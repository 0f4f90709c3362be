// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/report/figure_view.h"

#include "ui/views/experiments/report/drawing_painter.h"

#include <QPainter>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr int kUsualWidth = 720;
constexpr int kFigureSide = 12; ///< pixels beside the drawing

QString explanationOf(const engine::ResultFigure& figure) {
    return figure.note.empty()
               ? FigureView::tr("A figure of this run's report. Marks with whiskers are measured "
                                "values with their 95 % interval; the table has all numbers.")
               : QString::fromStdString(figure.note);
}

} // namespace

FigureView::FigureView(const ViewContext& context, engine::ResultFigure figure, QWidget* parent)
    : View(context,
           {QString::fromStdString(figure.id),
            QString::fromStdString(figure.title),
            explanationOf(figure),
            {}},
           parent)
    , m_figure(std::move(figure)) {
    setFocusPolicy(Qt::TabFocus);
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(&context.theme, &Theme::changed, this, [this] { refreshView({}); });
    refreshView({});
}

void FigureView::setFigure(engine::ResultFigure figure) {
    m_figure = std::move(figure);
    refreshView({});
}

void FigureView::setOverlay(bool isShown) {
    if (std::exchange(m_hasOverlay, isShown) != isShown)
        refreshView({});
}

engine::ResultFigure FigureView::shownFigure() const {
    engine::ResultFigure figure = m_figure;
    if (m_hasOverlay)
        return figure;
    figure.overlayLabel.clear();
    for (engine::FigurePanel& panel : figure.panels)
        std::erase_if(panel.series,
                      [](const engine::FigureSeries& series) { return series.isPaper; });
    return figure;
}

engine::Drawing FigureView::draw(int width) const {
    engine::FigureCanvas canvas;
    canvas.width = std::max(1, width - 2 * theme().scaled(kFigureSide));
    canvas.textScale = theme().scaled(100) / 100.0;
    canvas.textWidth = drawingTextWidth(theme());
    return engine::drawFigure(shownFigure(), canvas);
}

void FigureView::refreshView(Topics) {
    m_drawing = draw(width());
    setAccessibleDescription(QString::fromStdString(m_drawing.summary));
    updateGeometry();
    update();
}

void FigureView::resizeEvent(QResizeEvent* event) {
    View::resizeEvent(event);
    m_drawing = draw(width());
}

int FigureView::heightForWidth(int width) const {
    return static_cast<int>(draw(width).height + 0.999) + 2 * theme().scaled(4);
}

QSize FigureView::sizeHint() const {
    const int width = theme().scaled(kUsualWidth);
    return {width, heightForWidth(width)};
}

void FigureView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.translate(theme().scaled(kFigureSide), theme().scaled(4));
    paintDrawing(painter, m_drawing, theme());
    if (!hasFocus())
        return;
    painter.resetTransform();
    painter.setPen(QPen(theme().colours().focus, 2));
    painter.drawRect(rect().adjusted(1, 1, -1, -1));
}

void FigureView::drawFigure(QPainter& painter, const QSize& size) {
    const engine::Drawing drawing = draw(size.width());
    painter.fillRect(QRect(QPoint(), size), theme().colours().panel);
    painter.translate(theme().scaled(kFigureSide), theme().scaled(4));
    paintDrawing(painter, drawing, theme());
}

FigureTable FigureView::table() const { return figureTableOf(engine::figureTable(shownFigure())); }

FigureTable figureTableOf(const engine::ResultTable& table) {
    FigureTable made;
    for (const std::string& column : table.columns)
        made.header << QString::fromStdString(column);
    for (const auto& row : table.rows) {
        QStringList cells;
        for (const engine::ResultCell& cell : row)
            cells << (cell.value ? numberCell(cell.value->value)
                                 : QString::fromStdString(cell.text));
        made.rows.push_back(std::move(cells));
    }
    return made;
}

} // namespace ui
