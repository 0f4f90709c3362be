// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/drawing/markers.h"

namespace ui {

void drawMarker(QPainter& painter, Marker marker, QPointF centre, double size, QColor colour) {
    const double half = size / 2.0;
    const QRectF box(centre.x() - half, centre.y() - half, size, size);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colour, 1.0));
    painter.setBrush(Qt::NoBrush);
    switch (marker) {
    case Marker::None:
        break;
    case Marker::HollowCircle:
        painter.drawEllipse(box);
        break;
    case Marker::FilledDiamond: {
        const double reach = half * 2.1; // a diamond looks smaller than a circle of its width
        painter.setPen(Qt::NoPen);
        painter.setBrush(colour);
        painter.drawPolygon(QPolygonF({centre + QPointF(0.0, -reach),
                                       centre + QPointF(reach, 0.0),
                                       centre + QPointF(0.0, reach),
                                       centre + QPointF(-reach, 0.0)}));
        break;
    }
    case Marker::HollowSquare:
        painter.drawRect(box);
        break;
    case Marker::HollowTriangle:
        painter.drawPolygon(QPolygonF({QPointF(centre.x(), box.top() - 0.5),
                                       box.bottomRight() + QPointF(0.5, 0.0),
                                       box.bottomLeft() + QPointF(-0.5, 0.0)}));
        break;
    case Marker::Cross:
        painter.drawLine(box.topLeft(), box.bottomRight());
        painter.drawLine(box.topRight(), box.bottomLeft());
        break;
    case Marker::Plus:
        painter.drawLine(QPointF(centre.x(), box.top()), QPointF(centre.x(), box.bottom()));
        painter.drawLine(QPointF(box.left(), centre.y()), QPointF(box.right(), centre.y()));
        break;
    }
    painter.restore();
}

const QPixmap& MarkerCache::pixmap(const Look& look) {
    const auto key = std::make_tuple(look.marker, look.size, look.colour.rgba(), look.pixelRatio);
    const auto known = m_pixmaps.find(key);
    if (known != m_pixmaps.end())
        return known->second;
    const int side = (look.size * 2 + 3) | 1; // odd: the centre lies on a pixel
    QPixmap pixmap(QSizeF(side * look.pixelRatio, side * look.pixelRatio).toSize());
    pixmap.setDevicePixelRatio(look.pixelRatio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    drawMarker(painter, look.marker, QPointF(side / 2.0, side / 2.0), look.size, look.colour);
    return m_pixmaps.emplace(key, pixmap).first->second;
}

} // namespace ui
