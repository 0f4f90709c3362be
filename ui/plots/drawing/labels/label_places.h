// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/plot_parts.h"

#include <QRectF>

#include <optional>
#include <span>
#include <vector>

namespace ui {

/// A label that asks for a place on a line. Lengths in pixels.
struct LabelWish {
    QSizeF size;
    double topY = 0.0;    ///< height of its line at the label's place: "above" ends here
    double bottomY = 0.0; ///< "below" begins here
    LabelSide side = LabelSide::Left;
    bool isBelow = false;
    double smallestX = 0.0; ///< of its left edge, at the left side
};

/// The area for labels.
struct LabelRoom {
    QRectF frame;
    std::vector<QRectF> taken;         ///< by other texts
    std::vector<double> linesY;        ///< better not written across
    std::vector<QPointF> markers = {}; ///< centres of points, better not covered
    double markerRadius = 4.0;
    double insetX = 6.0; ///< from the frame's left and right edge
    double gap = 3.0;    ///< between a line and its label
};

/// Whether a text at this place would cover a point.
bool coversMarker(const QRectF& place, const LabelRoom& room);

/// One place for each request, in order of the requests. No place overlaps another one, the taken
/// areas or the frame's edge; a label that fits nowhere gets none. A label above its line rises by
/// up to its height to clear the points there.
std::vector<std::optional<QRectF>> placeLabels(std::span<const LabelWish> wishes, LabelRoom room);

} // namespace ui
