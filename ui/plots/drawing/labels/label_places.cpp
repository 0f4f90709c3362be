// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/drawing/labels/label_places.h"

#include <algorithm>
#include <array>

namespace ui {

namespace {

QRectF placeOf(const LabelWish& wish, const LabelRoom& room, LabelSide side, bool isBelow) {
    const double x = side == LabelSide::Left
                         ? std::max(room.frame.left() + room.insetX, wish.smallestX)
                         : room.frame.right() - room.insetX - wish.size.width();
    const double y = isBelow ? wish.bottomY + room.gap : wish.topY - room.gap - wish.size.height();
    return {QPointF(x, y), wish.size};
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
        if (isFree(place, room) && !crossesLine(place, room))
            return place;
    for (const QRectF& place : places)
        if (isFree(place, room))
            return place;
    return std::nullopt;
}

} // namespace

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
