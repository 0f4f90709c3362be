// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/drawing/labels/plot_ticks.h"
#include "ui/plots/drawing/line_plot_drawing.h"
#include "ui/plots/line_plot.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ui {

namespace {

constexpr double kZoomPerNotch = 0.8; ///< of the range that stays in view
constexpr double kPanPart = 0.1;      ///< of the range, for one key
constexpr double kReach = 20.0;       ///< pixels between the mouse and a point that it reads
constexpr double kDeepestZoom = 1e-4; ///< of the home range

PlotRange zoomed(PlotRange range, double factor, double part) {
    const double centre = range.from + range.span() * part;
    return {centre - (centre - range.from) * factor, centre + (range.to - centre) * factor};
}

PlotRange moved(PlotRange range, double by) { return {range.from + by, range.to + by}; }

} // namespace

bool LinePlot::eventFilter(QObject* watched, QEvent* event) {
    if (watched != m_drawing->plot)
        return QWidget::eventFilter(watched, event);
    switch (event->type()) {
    case QEvent::MouseButtonPress:
        mousePressed(*static_cast<QMouseEvent*>(event));
        return true;
    case QEvent::MouseMove:
        mouseMoved(*static_cast<QMouseEvent*>(event));
        return true;
    case QEvent::MouseButtonRelease:
        mouseReleased(*static_cast<QMouseEvent*>(event));
        return true;
    case QEvent::MouseButtonDblClick:
        m_drag.reset();
        if (std::exchange(m_hasChosen, false))
            emit choiceTakenBack();
        goHome();
        return true;
    case QEvent::Wheel:
        wheelTurned(*static_cast<QWheelEvent*>(event));
        event->accept();
        return true;
    case QEvent::Leave:
        setReadout(std::nullopt);
        return false;
    default:
        return false;
    }
}

void LinePlot::mousePressed(const QMouseEvent& event) {
    setFocus(Qt::MouseFocusReason);
    const QCPRange y = m_drawing->plot->yAxis->range();
    if (event.button() == Qt::LeftButton)
        m_drag = Drag{event.position(), shownX(), {y.lower, y.upper}};
}

void LinePlot::mouseMoved(const QMouseEvent& event) {
    if (!m_drag) {
        readNearest(event.position());
        return;
    }
    const QPointF way = event.position() - m_drag->start;
    if (!m_drag->isMoving && way.manhattanLength() < QApplication::startDragDistance())
        return;
    m_drag->isMoving = true;
    const QRect frame = m_drawing->plot->axisRect()->rect();
    if (frame.width() < 1 || frame.height() < 1)
        return;
    std::optional<PlotRange> y = m_zoomY;
    // A plot that was not zoomed vertically keeps its y axis under the hand.
    if (y)
        y = moved(m_drag->y, way.y() / frame.height() * m_drag->y.span());
    setReadout(std::nullopt);
    setZoom(moved(m_drag->x, -way.x() / frame.width() * m_drag->x.span()), y);
}

void LinePlot::mouseReleased(const QMouseEvent& event) {
    const bool isClick = m_drag && !m_drag->isMoving && event.button() == Qt::LeftButton;
    m_drag.reset();
    m_hasChosen = isClick;
    if (isClick)
        emit pointChosen(m_choice ? m_drawing->at(m_choice->series).points.at(m_choice->index).x
                                  : m_drawing->plot->xAxis->pixelToCoord(event.position().x()));
}

void LinePlot::wheelTurned(const QWheelEvent& event) {
    const QPoint angle = event.angleDelta();
    const double notches = (angle.y() != 0 ? angle.y() : angle.x()) / 120.0;
    const QRect frame = m_drawing->plot->axisRect()->rect();
    if (notches == 0.0 || frame.width() < 1 || frame.height() < 1)
        return;
    const bool isVertical = event.modifiers().testFlag(Qt::ShiftModifier);
    const double part = isVertical ? (frame.bottom() - event.position().y()) / frame.height()
                                   : (event.position().x() - frame.left()) / frame.width();
    zoom(std::pow(kZoomPerNotch, notches), std::clamp(part, 0.0, 1.0), isVertical);
}

void LinePlot::zoom(double factor, double part, bool isVertical) {
    const PlotRange home = isVertical ? m_homeY : m_homeX;
    const QCPRange y = m_drawing->plot->yAxis->range();
    const PlotRange range =
        zoomed(isVertical ? m_zoomY.value_or(PlotRange{y.lower, y.upper}) : shownX(), factor, part);
    if (range.span() < home.span() * kDeepestZoom || range.span() > home.span() / kDeepestZoom)
        return;
    if (isVertical)
        setZoom(m_zoomX, range);
    else
        setZoom(range, m_zoomY);
}

void LinePlot::pan(double xParts, double yParts) {
    std::optional<PlotRange> x = m_zoomX;
    std::optional<PlotRange> y = m_zoomY;
    if (xParts != 0.0)
        x = moved(shownX(), xParts * shownX().span());
    if (yParts != 0.0) {
        const QCPRange now = m_drawing->plot->yAxis->range();
        y = moved({now.lower, now.upper}, yParts * now.size());
    }
    setZoom(x, y);
}

void LinePlot::setZoom(std::optional<PlotRange> x, std::optional<PlotRange> y) {
    m_zoomX = x;
    m_zoomY = y;
    refresh();
}

void LinePlot::goHome() { setZoom(std::nullopt, std::nullopt); }

void LinePlot::keyPressEvent(QKeyEvent* event) {
    const bool isReading = event->modifiers().testFlag(Qt::ShiftModifier);
    switch (event->key()) {
    case Qt::Key_Left:
        isReading ? readNeighbour(-1) : pan(-kPanPart, 0.0);
        return;
    case Qt::Key_Right:
        isReading ? readNeighbour(1) : pan(kPanPart, 0.0);
        return;
    case Qt::Key_Up:
        isReading ? readSeries(-1) : pan(0.0, kPanPart);
        return;
    case Qt::Key_Down:
        isReading ? readSeries(1) : pan(0.0, -kPanPart);
        return;
    case Qt::Key_PageUp:
        zoom(kZoomPerNotch, 0.5, true);
        return;
    case Qt::Key_PageDown:
        zoom(1.0 / kZoomPerNotch, 0.5, true);
        return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoom(kZoomPerNotch, 0.5, false);
        return;
    case Qt::Key_Minus:
        zoom(1.0 / kZoomPerNotch, 0.5, false);
        return;
    case Qt::Key_Home:
        goHome();
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_choice)
            emit pointChosen(m_drawing->at(m_choice->series).points.at(m_choice->index).x);
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

void LinePlot::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    tellSummary();
    const Qt::FocusReason reason = event->reason();
    m_drawing->state.hasFocusRing = reason == Qt::TabFocusReason ||
                                    reason == Qt::BacktabFocusReason ||
                                    reason == Qt::ShortcutFocusReason;
    replotCursor();
}

void LinePlot::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    m_drawing->state.hasFocusRing = false;
    replotCursor();
}

bool LinePlot::isPoint(int series, std::size_t index) const {
    return std::isfinite(m_drawing->at(series).points.at(index).y);
}

void LinePlot::readNearest(QPointF position) {
    const QCPAxis& xAxis = *m_drawing->plot->xAxis;
    const QCPAxis& yAxis = *m_drawing->plot->yAxis;
    std::optional<PointChoice> nearest;
    double best = kReach * kReach;
    const double from = xAxis.pixelToCoord(position.x() - kReach);
    const double to = xAxis.pixelToCoord(position.x() + kReach);
    for (int i = 0; i < seriesCount(); ++i) {
        const PlotSeries& series = m_drawing->at(i);
        if (!series.isShown)
            continue;
        for (std::size_t k = series.points.lowerIndex(from);
             k < series.points.size() && series.points.at(k).x <= to;
             ++k) {
            const PlotPoint& point = series.points.at(k);
            const QPointF way =
                QPointF(xAxis.coordToPixel(point.x), yAxis.coordToPixel(point.y)) - position;
            const double distance = QPointF::dotProduct(way, way);
            if (isPoint(i, k) && distance < best) {
                best = distance;
                nearest = PointChoice{i, k};
            }
        }
    }
    setReadout(nearest);
}

/// The next point of the series in this direction, beyond gaps; none at its end.
std::optional<LinePlot::PointChoice> LinePlot::neighbourOf(PointChoice choice,
                                                           int direction) const {
    const std::size_t count = pointCount(choice.series);
    while (direction < 0 ? choice.index > 0 : choice.index + 1 < count) {
        choice.index = direction < 0 ? choice.index - 1 : choice.index + 1;
        if (isPoint(choice.series, choice.index))
            return choice;
    }
    return std::nullopt;
}

/// The point of the series with the nearest x; none if it has no point.
std::optional<LinePlot::PointChoice> LinePlot::nearestIn(int series, double x) const {
    const PointPyramid& points = m_drawing->at(series).points;
    const PointChoice at{series, points.lowerIndex(x)};
    const auto before = neighbourOf(at, -1);
    const bool isAt = at.index < points.size() && isPoint(series, at.index);
    const auto behind = isAt ? std::optional(at) : neighbourOf(at, 1);
    if (!before || !behind)
        return before ? before : behind;
    return x - points.at(before->index).x < points.at(behind->index).x - x ? before : behind;
}

void LinePlot::readNeighbour(int direction) {
    std::optional<PointChoice> next;
    if (m_choice)
        next = neighbourOf(*m_choice, direction);
    // The first series that has a point, read from the newest one that is seen.
    const double behind = std::nextafter(shownX().to, std::numeric_limits<double>::max());
    for (int series = 0; series < seriesCount() && !m_choice && !next; ++series) {
        if (!isSeriesShown(series))
            continue;
        next = neighbourOf({series, m_drawing->at(series).points.lowerIndex(behind)}, -1);
        if (!next)
            next = nearestIn(series, behind);
    }
    if (next)
        readByKey(*next);
}

/// Each point can be read: those of the next series that has any, from the nearest one.
void LinePlot::readSeries(int direction) {
    if (!m_choice) {
        readNeighbour(-1);
        return;
    }
    const double x = m_drawing->at(m_choice->series).points.at(m_choice->index).x;
    for (int series = m_choice->series + direction; series >= 0 && series < seriesCount();
         series += direction) {
        const auto next = isSeriesShown(series) ? nearestIn(series, x) : std::nullopt;
        if (!next)
            continue;
        readByKey(*next);
        return;
    }
}

/// The point comes into sight, and a screen reader says it.
void LinePlot::readByKey(PointChoice choice) {
    setReadout(choice);
    const double x = m_drawing->at(choice.series).points.at(choice.index).x;
    const PlotRange shown = shownX();
    if (!shown.contains(x))
        setZoom(moved(shown, x - shown.from - shown.span() / 2.0), m_zoomY);
    m_summaryClock.start(); // so that no summary talks over it
    setAccessibleDescription(readoutText().replace(QChar('\n'), QStringLiteral(": ")));
}

void LinePlot::setReadout(std::optional<PointChoice> choice) {
    m_choice = choice;
    if (updateReadout())
        replotCursor();
}

/// In the words of the axis as it is now, which may count from the newest point. Returns whether
/// they have changed.
bool LinePlot::updateReadout() {
    PlotState& state = m_drawing->state;
    std::optional<PlotReadout> readout;
    if (m_choice) {
        const PlotSeries& series = m_drawing->at(m_choice->series);
        const PlotPoint point = series.points.at(m_choice->index);
        const QString x =
            state.xAxis.tickText ? state.xAxis.tickText(point.x) : plainNumber(point.x, 0);
        readout = PlotReadout{
            point, QStringLiteral("%1\n%2  %3").arg(series.form.name, plainNumber(point.y, 3), x)};
    }
    if (state.readout == readout)
        return false;
    state.readout = std::move(readout);
    return true;
}

QString LinePlot::readoutText() const {
    return m_drawing->state.readout ? m_drawing->state.readout->text : QString();
}

} // namespace ui
