// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/drawing/plot_layers.h"

#include "ui/plots/drawing/labels/plot_ticks.h"

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr int kSquareSide = 7;         ///< pixels, of the emphasis
constexpr int kInstanceTickHeight = 5; ///< pixels

} // namespace

StateLayer::StateLayer(QCustomPlot& plot, const QString& layer, const PlotState& state)
    : QCPLayerable(&plot, layer)
    , m_state(state) {}

void StateLayer::applyDefaultAntialiasingHint(QCPPainter* painter) const {
    painter->setAntialiasing(m_state.isExport);
}

QRect StateLayer::frame() const { return mParentPlot->axisRect()->rect(); }

double StateLayer::xPixel(double value) const { return mParentPlot->xAxis->coordToPixel(value); }

double StateLayer::yPixel(double value) const { return mParentPlot->yAxis->coordToPixel(value); }

void StateLayer::drawSquare(QPainter& painter, PlotPoint point, const QColor& colour) const {
    const int x = static_cast<int>(std::lround(xPixel(point.x)));
    const int y = static_cast<int>(std::lround(yPixel(point.y)));
    painter.fillRect(QRect(x - kSquareSide / 2, y - kSquareSide / 2, kSquareSide, kSquareSide),
                     colour);
}

void GroundLayer::draw(QCPPainter* painter) {
    const QRect room = frame();
    for (const PhaseBand& band : state().bands) {
        const double left = std::max(xPixel(band.from), static_cast<double>(room.left()));
        const double right = std::min(xPixel(band.to), static_cast<double>(room.right() + 1));
        if (right <= left)
            continue;
        painter->fillRect(QRectF(left, room.top(), right - left, room.height()),
                          state().colours().*band.ground);
        if (left <= room.left() + 1)
            continue;
        painter->setPen(finePen(state().colours().controlBorder));
        painter->drawLine(QLineF(left, room.top(), left, room.bottom()));
    }
}

void ReferenceLayer::draw(QCPPainter* painter) {
    const QRect room = frame();
    for (const ReferenceLine& line : state().references) {
        const double y = std::round(yPixel(line.value));
        painter->setPen(finePen(state().colours().*line.colour, line.dash));
        painter->drawLine(QLineF(room.left(), y, room.right(), y));
    }
    painter->setPen(finePen(state().colours().axis));
    for (const double tick : state().instanceTicks) {
        const double x = std::round(xPixel(tick));
        painter->drawLine(QLineF(x, room.bottom() - kInstanceTickHeight, x, room.bottom()));
    }
}

void MarkerLayer::draw(QCPPainter* painter) {
    for (const auto& series : state().series)
        if (series->isShown && series->form.marker != Marker::None)
            drawSeries(*painter, *series);
}

void MarkerLayer::drawSeries(QPainter& painter, const PlotSeries& series) {
    const QCPRange shown = mParentPlot->xAxis->range();
    const PlotRange range{shown.lower, shown.upper};
    const int level = series.points.levelFor(range, kMostMarkers);
    const MarkerCache::Look look{series.form.marker,
                                 state().theme.scaled(kMarkerSize),
                                 state().colours().*series.form.colour,
                                 mParentPlot->devicePixelRatioF()};
    const QPixmap& pixmap = m_cache.pixmap(look);
    const double half = pixmap.width() / pixmap.devicePixelRatio() / 2.0;
    for (const PlotPoint& point : series.points.pointsIn(range, level)) {
        if (!range.contains(point.x) || !std::isfinite(point.y))
            continue;
        const QPointF centre(xPixel(point.x), yPixel(point.y));
        if (state().isExport)
            drawMarker(painter, look.marker, centre, look.size, look.colour);
        else
            painter.drawPixmap(
                QPointF(std::round(centre.x() - half), std::round(centre.y() - half)), pixmap);
    }
}

void CursorLayer::draw(QCPPainter* painter) {
    if (state().cursor)
        drawCursor(*painter, *state().cursor);
    if (state().readout)
        drawReadout(*painter, *state().readout);
    if (state().hasFocusRing) {
        QPen pen(state().colours().focus, 2.0);
        pen.setJoinStyle(Qt::MiterJoin);
        painter->setPen(pen);
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(mParentPlot->viewport().adjusted(1, 1, -1, -1));
    }
}

void CursorLayer::drawCursor(QPainter& painter, const PlotCursor& cursor) const {
    const QRect room = frame();
    const double x = std::round(xPixel(cursor.x));
    if (x < room.left() || x > room.right())
        return;
    const QColor accent = state().colours().accent;
    painter.setPen(finePen(accent));
    painter.drawLine(QLineF(x, room.top(), x, room.bottom()));
    if (cursor.y)
        drawSquare(painter, {cursor.x, *cursor.y}, accent);
    QFont font = state().theme.font(TextRole::Tiny);
    font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    painter.setPen(accent);
    const double width = QFontMetricsF(font).horizontalAdvance(cursor.label);
    constexpr double kGap = 8.0;
    const bool fitsRight = x + kGap + width <= room.right();
    const double left = fitsRight ? x + kGap : std::max<double>(room.left() + 2, x - kGap - width);
    drawOnVeil(painter, QPointF(left, room.bottom() - kGap), cursor.label, state().colours().panel);
}

void CursorLayer::drawReadout(QPainter& painter, const PlotReadout& readout) const {
    const QRect room = frame();
    const QPointF at(xPixel(readout.point.x), yPixel(readout.point.y));
    painter.setPen(finePen(state().colours().text));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(std::round(at.x()) - 4, std::round(at.y()) - 4, 8, 8));

    const QFont font = state().theme.font(TextRole::AxisFigure);
    painter.setFont(font);
    const QSizeF text = QFontMetricsF(font).size(0, readout.text);
    const QSizeF size = text + QSizeF(12.0, 8.0);
    constexpr double kGap = 10.0;
    const bool fitsRight = at.x() + kGap + size.width() <= room.right();
    const double x = fitsRight ? at.x() + kGap : at.x() - kGap - size.width();
    const double y = std::clamp(at.y() - kGap - size.height(),
                                static_cast<double>(room.top()),
                                std::max<double>(room.top(), room.bottom() - size.height()));
    const QRectF box(
        std::max<double>(std::round(x), 1.0), std::round(y), size.width(), size.height());
    painter.setPen(finePen(state().colours().controlBorder));
    painter.setBrush(state().colours().tipGround);
    painter.drawRect(box);
    painter.setPen(state().colours().text);
    painter.drawText(
        box.adjusted(6.0, 4.0, -6.0, -4.0), Qt::AlignLeft | Qt::AlignTop, readout.text);
}

} // namespace ui
