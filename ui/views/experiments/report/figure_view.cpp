// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/report/figure_view.h"

#include "ui/views/experiments/report/drawing_painter.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ui {

namespace {

constexpr int kUsualWidth = 720;
constexpr int kFigureSide = 12; ///< pixels beside the drawing
constexpr int kFigureTop = 4;

QString explanationOf(const engine::ResultFigure& figure) {
    return figure.note.empty()
               ? FigureView::tr("A figure of this run's report. Marks with whiskers are measured "
                                "values with their 95 % interval; the table has all numbers.")
               : QString::fromStdString(figure.note);
}

engine::ResultFigure withoutPapers(engine::ResultFigure figure) {
    figure.overlayLabel.clear();
    for (engine::FigurePanel& panel : figure.panels)
        std::erase_if(panel.series,
                      [](const engine::FigureSeries& series) { return series.isPaper; });
    return figure;
}

} // namespace

bool isTaskMatrix(const engine::ResultFigure& figure) {
    if (figure.kind != engine::FigureKind::Matrix || figure.panels.size() != 1)
        return false;
    const auto& cells = figure.panels.front().cells;
    const std::vector<std::string>& columns = figure.x.names;
    return cells.size() == figure.y.names.size() &&
           std::ranges::all_of(cells,
                               [&](const auto& row) { return row.size() == columns.size(); }) &&
           std::ranges::any_of(figure.y.names, [&](const std::string& row) {
               return std::ranges::count(columns, row) > 0;
           });
}

FigureView::FigureView(const ViewContext& context, ResultFigurePtr figure, QWidget* parent)
    : View(context,
           {QString::fromStdString(figure->id),
            QString::fromStdString(figure->title),
            explanationOf(*figure),
            {}},
           parent)
    , m_figure(std::move(figure)) {
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(&context.theme, &Theme::changed, this, [this] { refreshView({}); });
    refreshView({});
}

void FigureView::setFigure(ResultFigurePtr figure) {
    m_figure = std::move(figure);
    refreshView({});
    emit figureChanged();
}

void FigureView::setStill(engine::ResultFigure still) {
    m_still = std::move(still);
    refreshView({});
}

void FigureView::setOverlay(bool isShown) {
    if (std::exchange(m_hasOverlay, isShown) != isShown)
        refreshView({});
}

engine::Drawing FigureView::draw(int width) const {
    engine::FigureCanvas canvas;
    canvas.width = std::max(1, width - 2 * theme().scaled(kFigureSide));
    canvas.textScale = theme().scaled(100) / 100.0;
    canvas.textWidth = drawingTextWidth(theme());
    const engine::ResultFigure& shown = m_still ? *m_still : *m_figure;
    return m_hasOverlay ? engine::drawFigure(shown, canvas)
                        : engine::drawFigure(withoutPapers(shown), canvas);
}

void FigureView::refreshView(Topics) {
    m_drawing = draw(width());
    setFocusPolicy(isTaskMatrix(*m_figure) ? Qt::StrongFocus : Qt::TabFocus);
    describe();
    updateGeometry();
    update();
}

void FigureView::describe() {
    const QString words =
        m_meaning.isEmpty() ? QString::fromStdString(m_drawing.summary) : m_meaning;
    if (accessibleDescription() != words)
        setAccessibleDescription(words);
}

void FigureView::setCell(const std::optional<MatrixCell>& cell, const QString& meaning) {
    m_cell = cell;
    m_meaning = meaning;
    describe();
    update();
}

/// They are the last rectangles of the drawing but for the outlines of its diagonal.
std::vector<QRectF> FigureView::cellRects() const {
    if (!isTaskMatrix(*m_figure))
        return {};
    const QPointF corner(theme().scaled(kFigureSide), theme().scaled(kFigureTop));
    std::vector<QRectF> rects;
    for (const engine::Mark& mark : m_drawing.marks)
        if (mark.shape == engine::MarkShape::Rectangle && mark.points.size() == 2 &&
            mark.stroke != engine::Ink::Text)
            rects.push_back(QRectF(QPointF(mark.points[0].x, mark.points[0].y),
                                   QPointF(mark.points[1].x, mark.points[1].y))
                                .translated(corner));
    const std::size_t count = m_figure->y.names.size() * m_figure->x.names.size();
    if (rects.size() < count)
        return {};
    rects.erase(rects.begin(), rects.end() - static_cast<std::ptrdiff_t>(count));
    return rects;
}

std::optional<std::size_t> FigureView::placeOf(const MatrixCell& cell) const {
    const std::vector<std::string>& rows = m_figure->y.names;
    const std::vector<std::string>& columns = m_figure->x.names;
    const auto row = std::ranges::find(rows, cell.row);
    const auto column = std::ranges::find(columns, cell.column);
    if (!isTaskMatrix(*m_figure) || row == rows.end() || column == columns.end())
        return std::nullopt;
    return static_cast<std::size_t>(row - rows.begin()) * columns.size() +
           static_cast<std::size_t>(column - columns.begin());
}

QRectF FigureView::cellRect(const MatrixCell& cell) const {
    const auto place = placeOf(cell);
    const std::vector<QRectF> rects = cellRects();
    return place && *place < rects.size() ? rects[*place] : QRectF();
}

const engine::Estimate* FigureView::value(const MatrixCell& cell) const {
    const auto place = placeOf(cell);
    if (!place)
        return nullptr;
    const std::size_t columns = m_figure->x.names.size();
    const engine::Estimate& found =
        m_figure->panels.front().cells[*place / columns][*place % columns];
    return found.count > 0 && std::isfinite(found.value) ? &found : nullptr;
}

void FigureView::choosePlace(std::size_t place) {
    const std::size_t columns = m_figure->x.names.size();
    emit cellChosen({m_figure->y.names[place / columns], m_figure->x.names[place % columns]});
}

/// The first cell if none was chosen.
void FigureView::moveCell(int down, int right) {
    const int rows = static_cast<int>(m_figure->y.names.size());
    const int columns = static_cast<int>(m_figure->x.names.size());
    int place = 0;
    if (const auto now = m_cell ? placeOf(*m_cell) : std::nullopt) {
        const int at = static_cast<int>(*now);
        place = std::clamp(at / columns + down, 0, rows - 1) * columns +
                std::clamp(at % columns + right, 0, columns - 1);
    }
    choosePlace(static_cast<std::size_t>(place));
}

void FigureView::mousePressEvent(QMouseEvent* event) {
    const std::vector<QRectF> rects = cellRects();
    const auto hit = std::ranges::find_if(
        rects, [at = event->position()](const QRectF& rect) { return rect.contains(at); });
    if (event->button() == Qt::LeftButton && hit != rects.end())
        choosePlace(static_cast<std::size_t>(hit - rects.begin()));
    else
        View::mousePressEvent(event);
}

void FigureView::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    const int down = (key == Qt::Key_Down ? 1 : 0) - (key == Qt::Key_Up ? 1 : 0);
    const int right = (key == Qt::Key_Right ? 1 : 0) - (key == Qt::Key_Left ? 1 : 0);
    const bool isOurs =
        isTaskMatrix(*m_figure) && (event->modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier;
    if (isOurs && (down != 0 || right != 0))
        moveCell(down, right);
    else if (isOurs && m_cell && (key == Qt::Key_Return || key == Qt::Key_Enter))
        emit cellOpened();
    else
        View::keyPressEvent(event);
}

void FigureView::resizeEvent(QResizeEvent* event) {
    View::resizeEvent(event);
    m_drawing = draw(width());
}

int FigureView::heightForWidth(int width) const {
    return static_cast<int>(draw(width).height + 0.999) + 2 * theme().scaled(kFigureTop);
}

QSize FigureView::sizeHint() const {
    const int width = theme().scaled(kUsualWidth);
    return {width, heightForWidth(width)};
}

void FigureView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.save();
    painter.translate(theme().scaled(kFigureSide), theme().scaled(kFigureTop));
    paintDrawing(painter, m_drawing, theme());
    painter.restore();
    paintChosen(painter);
    if (!hasFocus())
        return;
    painter.setPen(QPen(theme().colours().focus, 2));
    painter.drawRect(rect().adjusted(1, 1, -1, -1));
}

/// Around the cell, so that the outline of the diagonal stays within it.
void FigureView::paintChosen(QPainter& painter) const {
    const QRect cell = m_cell ? cellRect(*m_cell).toRect() : QRect();
    if (cell.isEmpty())
        return;
    const int gap = theme().scaled(3);
    const int line = theme().scaled(2);
    painter.setBrush(Qt::NoBrush);
    for (const QPen& pen :
         {QPen(theme().colours().panel, 2 * line), QPen(theme().colours().accent, line)}) {
        painter.setPen(pen);
        painter.drawRect(cell.adjusted(-gap, -gap, gap, gap));
    }
}

void FigureView::drawFigure(QPainter& painter, const QSize& size) {
    const engine::Drawing drawing = draw(size.width());
    painter.fillRect(QRect(QPoint(), size), theme().colours().panel);
    painter.translate(theme().scaled(kFigureSide), theme().scaled(kFigureTop));
    paintDrawing(painter, drawing, theme());
}

FigureTable FigureView::table() const {
    return figureTableOf(m_hasOverlay ? engine::figureTable(*m_figure)
                                      : engine::figureTable(withoutPapers(*m_figure)));
}

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
