// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/drawing/labels/label_places.h"

#include <algorithm>
#include <array>

namespace ui {

namespace {

bool touches(const QRectF& place, const QPointF& marker, double radius) {
    return marker.x() > place.left() - radius && marker.x() < place.right() + radius &&
           marker.y() > place.top() - radius && marker.y() < place.bottom() + radius;
}

QRectF placeOf(const LabelWish& wish, const LabelRoom& room, LabelSide side, bool isBelow) {
    const double x = side == LabelSide::Left
                         ? std::max(room.frame.left() + room.insetX, wish.smallestX)
                         : room.frame.right() - room.insetX - wish.size.width();
    if (isBelow)
        return {QPointF(x, wish.bottomY + room.gap), wish.size};
    const QRectF place(QPointF(x, wish.topY - room.gap - wish.size.height()), wish.size);
    const QRectF reach = place.adjusted(0.0, -place.height(), 0.0, 0.0);
    double bottom = place.bottom();
    for (const QPointF& marker : room.markers)
        if (touches(reach, marker, room.markerRadius))
            bottom = std::min(bottom, marker.y() - room.markerRadius);
    return place.translated(0.0, std::max(bottom, place.top()) - place.bottom());
}

bool isFree(const QRectF& place, const LabelRoom& room) {
    return room.frame.contains(place) &&
           std::none_of(room.taken.begin(), room.taken.end(), [&](const QRectF& other) {
               return other.intersects(place);
           });
}

bool crossesLine(const QRectF& place, const LabelRoom& room) {
    return std::any_of(room.linesY.begin(), room.linesY.end(), [&](double y) {
        return y > place.top() && y < place.bottom();
    });
}

std::optional<QRectF> freePlace(const LabelWish& wish, const LabelRoom& room) {
    const LabelSide otherSide = wish.side == LabelSide::Left ? LabelSide::Right : LabelSide::Left;
    const std::array<QRectF, 4> places = {placeOf(wish, room, wish.side, wish.isBelow),
                                          placeOf(wish, room, wish.side, !wish.isBelow),
                                          placeOf(wish, room, otherSide, wish.isBelow),
                                          placeOf(wish, room, otherSide, !wish.isBelow)};
    for (const QRectF& place : places)
        if (isFree(place, room) && !crossesLine(place, room) && !coversMarker(place, room))
            return place;
    for (const QRectF& place : places)
        if (isFree(place, room) && !crossesLine(place, room))
            return place;
    for (const QRectF& place : places)
        if (isFree(place, room))
            return place;
    return std::nullopt;
}

} // namespace

bool coversMarker(const QRectF& place, const LabelRoom& room) {
    return std::any_of(room.markers.begin(), room.markers.end(), [&](const QPointF& marker) {
        return touches(place, marker, room.markerRadius);
    });
}

std::vector<std::optional<QRectF>> placeLabels(std::span<const LabelWish> wishes, LabelRoom room) {
    std::vector<std::optional<QRectF>> places;
    places.reserve(wishes.size());
    for (const LabelWish& wish : wishes) {
        places.push_back(wish.size.isEmpty() ? std::nullopt : freePlace(wish, room));
        if (places.back())
            room.taken.push_back(*places.back());
    }
    return places;
}

} // namespace ui
