// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/plot_parts.h"

#include <QPainter>
#include <QPixmap>

#include <map>
#include <tuple>

namespace ui {

/// Draws the shape around `centre`, `size` pixels wide, antialiased.
void drawMarker(QPainter& painter, Marker marker, QPointF centre, double size, QColor colour);

/// Markers drawn once and copied to every point: hundreds of antialiased circles cost a frame.
class MarkerCache {
public:
    struct Look {
        Marker marker = Marker::None;
        int size = 0; ///< pixels
        QColor colour;
        double pixelRatio = 1.0;
    };

    /// An odd number of pixels wide at scale 1; the shape's centre is the picture's.
    const QPixmap& pixmap(const Look& look);

private:
    std::map<std::tuple<Marker, int, QRgb, double>, QPixmap> m_pixmaps;
};

} // namespace ui
