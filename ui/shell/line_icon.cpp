// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/line_icon.h"

#include <QPainter>
#include <QPainterPath>
#include <QPixmap>

namespace ui {

namespace {

constexpr double kGrid = 16.0; // icons are drawn on 16 by 16
constexpr double kPenWidth = 1.4;
constexpr int kSharpScale = 3;

QPainterPath resetPath() {
    QPainterPath path;
    path.arcMoveTo(3.5, 4.0, 9.0, 9.0, 140);
    path.arcTo(3.5, 4.0, 9.0, 9.0, 140, -270);
    path.moveTo(4.3, 2.4);
    path.lineTo(4.3, 5.8);
    path.lineTo(7.7, 5.8);
    return path;
}

QPainterPath dicePath() {
    QPainterPath path;
    path.addRoundedRect(2.5, 2.5, 11.0, 11.0, 2.0, 2.0);
    for (const QPointF& dot : {QPointF(5.6, 5.6), QPointF(8.0, 8.0), QPointF(10.4, 10.4)})
        path.addEllipse(dot, 0.5, 0.5);
    return path;
}

QPainterPath questionPath() {
    QPainterPath path;
    path.addEllipse(QPointF(8.0, 8.0), 6.0, 6.0);
    path.moveTo(6.1, 6.6);
    path.cubicTo(6.1, 3.8, 10.0, 3.9, 9.9, 6.5);
    path.cubicTo(9.9, 8.0, 8.0, 7.9, 8.0, 9.4);
    path.addEllipse(QPointF(8.0, 11.5), 0.3, 0.3);
    return path;
}

QPainterPath warningPath() {
    QPainterPath path(QPointF(8.0, 2.2));
    path.lineTo(14.2, 13.2);
    path.lineTo(1.8, 13.2);
    path.closeSubpath();
    path.moveTo(8.0, 6.4);
    path.lineTo(8.0, 9.4);
    path.addEllipse(QPointF(8.0, 11.3), 0.3, 0.3);
    return path;
}

QPainterPath folderPath() {
    QPainterPath path(QPointF(2.0, 12.8));
    path.lineTo(2.0, 3.6);
    path.lineTo(6.2, 3.6);
    path.lineTo(7.8, 5.4);
    path.lineTo(14.0, 5.4);
    path.lineTo(14.0, 12.8);
    path.closeSubpath();
    return path;
}

QPainterPath filePath() {
    QPainterPath path(QPointF(3.8, 2.0));
    path.lineTo(9.4, 2.0);
    path.lineTo(12.4, 5.0);
    path.lineTo(12.4, 14.0);
    path.lineTo(3.8, 14.0);
    path.closeSubpath();
    path.moveTo(9.4, 2.0);
    path.lineTo(9.4, 5.0);
    path.lineTo(12.4, 5.0);
    return path;
}

QPainterPath linePath(std::initializer_list<QPointF> points) {
    QPainterPath path(*points.begin());
    for (const QPointF& point : points)
        path.lineTo(point);
    return path;
}

QPainterPath pathOf(LineIcon icon) {
    switch (icon) {
    case LineIcon::Reset:
        return resetPath();
    case LineIcon::Dice:
        return dicePath();
    case LineIcon::Question:
        return questionPath();
    case LineIcon::Check:
        return linePath({{2.8, 8.6}, {6.2, 12.0}, {13.2, 4.2}});
    case LineIcon::Cross: {
        QPainterPath path = linePath({{3.5, 3.5}, {12.5, 12.5}});
        path.addPath(linePath({{12.5, 3.5}, {3.5, 12.5}}));
        return path;
    }
    case LineIcon::ChevronDown:
        return linePath({{4.0, 6.2}, {8.0, 10.2}, {12.0, 6.2}});
    case LineIcon::Warning:
        return warningPath();
    case LineIcon::Folder:
        return folderPath();
    case LineIcon::File:
        return filePath();
    }
    return {};
}

QPixmap pixmapOf(LineIcon icon, int pixels, const QColor& colour) {
    QPixmap pixmap(pixels * kSharpScale, pixels * kSharpScale);
    pixmap.setDevicePixelRatio(kSharpScale);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    drawLineIcon(painter, icon, QRectF(0, 0, pixels, pixels), colour);
    return pixmap;
}

} // namespace

void drawLineIcon(QPainter& painter, LineIcon icon, const QRectF& area, const QColor& colour) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(area.topLeft());
    painter.scale(area.width() / kGrid, area.height() / kGrid);
    painter.setPen(QPen(colour, kPenWidth, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(pathOf(icon));
    painter.restore();
}

QIcon lineIcon(LineIcon icon, int pixels, const QColor& colour, const QColor& disabled) {
    QIcon made;
    made.addPixmap(pixmapOf(icon, pixels, colour), QIcon::Normal);
    made.addPixmap(pixmapOf(icon, pixels, disabled), QIcon::Disabled);
    return made;
}

} // namespace ui
