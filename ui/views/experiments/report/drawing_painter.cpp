// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/report/drawing_painter.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPolygonF>

namespace ui {

namespace {

using engine::DrawingPoint;
using engine::HatchKind;
using engine::Ink;
using engine::Mark;
using engine::MarkShape;

constexpr double kHatchStep = 6.0;

QColor inkColour(Ink ink, const Colours& colours) {
    const int number = static_cast<int>(ink);
    const auto stepOf = [&](Ink first) {
        return static_cast<std::size_t>(number - static_cast<int>(first));
    };
    if (ink >= Ink::Heat0 && ink <= Ink::Heat6)
        return colours.heat[stepOf(Ink::Heat0)];
    if (ink >= Ink::HeatText0 && ink <= Ink::HeatText6)
        return colours.onHeat[stepOf(Ink::HeatText0)];
    switch (ink) {
    case Ink::Panel:
        return colours.panel;
    case Ink::Shade:
        return colours.raised;
    case Ink::Text:
        return colours.text;
    case Ink::Muted:
        return colours.muted;
    case Ink::Accent:
        return colours.accent;
    case Ink::Success:
        return colours.success;
    case Ink::Warning:
        return colours.warning;
    case Ink::Grid:
        return colours.grid;
    case Ink::Axis:
        return colours.axis;
    case Ink::Raw:
        return colours.rawLine;
    case Ink::Paper:
        return colours.paperValue;
    case Ink::Attention:
        return colours.attention;
    case Ink::Mlp:
        return colours.mlp;
    case Ink::Kept:
        return colours.kept;
    case Ink::KeptLine:
        return colours.keptOutline;
    case Ink::Hatch:
        return colours.hatch;
    case Ink::Part0:
        return colours.draftTime;
    case Ink::Part1:
        return colours.verifyTime;
    case Ink::Part2:
        return colours.searchTime;
    case Ink::Part3:
        return colours.otherTime;
    case Ink::PartText0:
        return colours.onDraftTime;
    case Ink::PartText1:
        return colours.onVerifyTime;
    default:
        return colours.text;
    }
}

QPointF at(const DrawingPoint& point) { return {point.x, point.y}; }

QPolygonF polygonOf(const std::vector<DrawingPoint>& points) {
    QPolygonF polygon;
    for (const DrawingPoint& point : points)
        polygon << at(point);
    return polygon;
}

void setPenAndBrush(QPainter& painter, const Mark& mark, const Colours& colours) {
    painter.setBrush(mark.fill ? QBrush(inkColour(*mark.fill, colours)) : Qt::NoBrush);
    if (!mark.stroke || mark.strokeWidth <= 0.0) {
        painter.setPen(Qt::NoPen);
        return;
    }
    QPen pen(inkColour(*mark.stroke, colours), mark.strokeWidth);
    pen.setCapStyle(Qt::FlatCap);
    if (!mark.dashes.empty()) {
        QList<qreal> pattern; // in widths of the pen
        for (const double length : mark.dashes)
            pattern << std::max(0.1, length / mark.strokeWidth);
        if (pattern.size() % 2 != 0)
            pattern << pattern.back();
        pen.setDashPattern(pattern);
    }
    painter.setPen(pen);
}

/// Lines stay inside the rectangle without clipping, which vector files do not keep.
void paintHatchLines(QPainter& painter, const QRectF& room, HatchKind kind, const QColor& colour) {
    painter.setPen(QPen(colour, 1.0));
    const bool isCross = kind == HatchKind::Cross;
    if (kind == HatchKind::Diagonal || isCross)
        for (double sum = kHatchStep / 2.0; sum < room.width() + room.height(); sum += kHatchStep) {
            const double first = std::max(0.0, sum - room.height());
            const double last = std::min(room.width(), sum);
            painter.drawLine(QPointF(room.left() + first, room.top() + sum - first),
                             QPointF(room.left() + last, room.top() + sum - last));
            if (isCross)
                painter.drawLine(QPointF(room.right() - first, room.top() + sum - first),
                                 QPointF(room.right() - last, room.top() + sum - last));
        }
    if (kind == HatchKind::Horizontal)
        for (double y = kHatchStep / 2.0; y < room.height(); y += kHatchStep)
            painter.drawLine(QPointF(room.left(), room.top() + y),
                             QPointF(room.right(), room.top() + y));
    if (kind == HatchKind::Dots)
        for (double y = kHatchStep / 2.0; y < room.height(); y += kHatchStep)
            for (double x = kHatchStep / 2.0; x < room.width(); x += kHatchStep)
                painter.fillRect(QRectF(room.left() + x - 1.0, room.top() + y - 1.0, 2.0, 2.0),
                                 colour);
}

void paintText(QPainter& painter, const Mark& mark, const Theme& theme) {
    if (mark.points.empty())
        return;
    const QString text = QString::fromStdString(mark.text);
    painter.setFont(drawingFont(mark.style, theme));
    painter.setPen(inkColour(mark.fill.value_or(Ink::Text), theme.colours()));
    const double width = QFontMetricsF(painter.font()).horizontalAdvance(text);
    const double back = mark.anchor == engine::TextAnchor::Start    ? 0.0
                        : mark.anchor == engine::TextAnchor::Middle ? width / 2.0
                                                                    : width;
    painter.save();
    painter.translate(at(mark.points.front()));
    painter.rotate(mark.turn);
    painter.drawText(QPointF(-back, 0.0), text);
    painter.restore();
}

void paintMark(QPainter& painter, const Mark& mark, const Theme& theme) {
    if (mark.shape == MarkShape::Text) {
        paintText(painter, mark, theme);
        return;
    }
    const bool isUpright =
        mark.shape == MarkShape::Rectangle ||
        (mark.shape == MarkShape::Line && mark.points.size() == 2 &&
         (mark.points[0].x == mark.points[1].x || mark.points[0].y == mark.points[1].y));
    painter.setRenderHint(QPainter::Antialiasing, !isUpright);
    setPenAndBrush(painter, mark, theme.colours());
    if (mark.points.empty())
        return;
    const QPointF centre = at(mark.points.front());
    switch (mark.shape) {
    case MarkShape::Line:
        painter.setBrush(Qt::NoBrush);
        painter.drawPolyline(polygonOf(mark.points));
        break;
    case MarkShape::Rectangle: {
        if (mark.points.size() < 2)
            return;
        const QRectF room = QRectF(centre, at(mark.points[1])).normalized();
        painter.drawRect(room);
        if (mark.hatch != HatchKind::None)
            paintHatchLines(painter, room, mark.hatch, inkColour(Ink::Hatch, theme.colours()));
        break;
    }
    case MarkShape::Circle:
        painter.drawEllipse(centre, mark.radius, mark.radius);
        break;
    case MarkShape::Diamond:
        painter.drawPolygon(QPolygonF({centre + QPointF(0.0, -mark.radius),
                                       centre + QPointF(mark.radius, 0.0),
                                       centre + QPointF(0.0, mark.radius),
                                       centre + QPointF(-mark.radius, 0.0)}));
        break;
    case MarkShape::Text:
        break;
    }
}

} // namespace

QFont drawingFont(const engine::TextStyle& style, const Theme& theme) {
    QFont font = theme.font(style.isMono ? TextRole::AxisFigure : TextRole::Small);
    font.setPixelSize(std::max(1, static_cast<int>(style.size + 0.5)));
    font.setWeight(style.isBold ? QFont::DemiBold : QFont::Normal);
    return font;
}

engine::TextWidth drawingTextWidth(const Theme& theme) {
    return [&theme](std::string_view text, const engine::TextStyle& style) {
        return QFontMetricsF(drawingFont(style, theme))
            .horizontalAdvance(QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())));
    };
}

void paintDrawing(QPainter& painter, const engine::Drawing& drawing, const Theme& theme) {
    painter.save();
    for (const engine::Mark& mark : drawing.marks)
        paintMark(painter, mark, theme);
    painter.restore();
}

} // namespace ui
