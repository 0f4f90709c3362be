// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/grid/cell_painter.h"

#include <QPainter>

#include <algorithm>

namespace ui {

namespace {

constexpr int kHatchPeriod = 6;
constexpr int kRoomyCell = 12;     // from here on gaps on all sides and full outlines
constexpr int kCellWithGlyph = 13; // from here on the lock is a lock

void paintFrame(QPainter& painter, const QRect& outer, int width, const QColor& colour) {
    painter.fillRect(outer.left(), outer.top(), outer.width(), width, colour);
    painter.fillRect(outer.left(), outer.bottom() - width + 1, outer.width(), width, colour);
    painter.fillRect(outer.left(), outer.top(), width, outer.height(), colour);
    painter.fillRect(outer.right() - width + 1, outer.top(), width, outer.height(), colour);
}

void paintDiagonals(QPainter& painter, const QRect& area, const QColor& colour) {
    painter.setPen(QPen(colour, 1.0));
    const int right = area.width() - 1;
    const int bottom = area.height() - 1;
    for (int sum = kHatchPeriod / 2; sum <= right + bottom; sum += kHatchPeriod) {
        const int first = std::max(0, sum - bottom);
        const int last = std::min(right, sum);
        if (first < last)
            painter.drawLine(area.left() + first,
                             area.top() + sum - first,
                             area.left() + last,
                             area.top() + sum - last);
    }
}

void paintDots(QPainter& painter, const QRect& area, const QColor& colour) {
    // Centred, so that a narrow cell has a whole column of dots.
    const int columns = std::max(1, (area.width() - 2) / kHatchPeriod + 1);
    const int rows = std::max(1, (area.height() - 2) / kHatchPeriod + 1);
    const int size = area.width() < 5 ? 1 : 2;
    const int left = area.left() + (area.width() - (columns - 1) * kHatchPeriod - size) / 2;
    const int top = area.top() + (area.height() - (rows - 1) * kHatchPeriod - size) / 2;
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            painter.fillRect(
                left + column * kHatchPeriod, top + row * kHatchPeriod, size, size, colour);
}

void paintLock(QPainter& painter, const QRect& area, const QColor& colour) {
    const QPoint centre = area.center();
    if (area.width() < kCellWithGlyph) {
        const int size = std::clamp(area.width() - 4, 1, 3);
        painter.fillRect(centre.x() - size / 2, centre.y() - size / 2, size, size, colour);
        return;
    }
    paintFrame(painter, QRect(centre.x() - 5, centre.y(), 11, 7), 1, colour);
    painter.save();
    painter.setPen(QPen(colour, 1.0));
    painter.drawLine(centre.x() - 3, centre.y() - 1, centre.x() - 3, centre.y() - 3);
    painter.drawLine(centre.x() + 3, centre.y() - 1, centre.x() + 3, centre.y() - 3);
    painter.drawLine(centre.x() - 2, centre.y() - 4, centre.x() - 1, centre.y() - 5);
    painter.drawLine(centre.x() + 2, centre.y() - 4, centre.x() + 1, centre.y() - 5);
    painter.drawLine(centre.x() - 1, centre.y() - 5, centre.x() + 1, centre.y() - 5);
    painter.restore();
    painter.fillRect(centre.x(), centre.y() + 2, 1, 3, colour);
}

/// What belongs to a copy stands on a bar.
void paintCopyBar(QPainter& painter, const QRect& body, const QColor& colour) {
    const int height = std::clamp(body.height() / 6, 2, 4);
    painter.fillRect(body.left(), body.bottom() - height + 1, body.width(), height, colour);
}

/// Two sets in one cell, the first above the second.
void paintHalves(QPainter& painter,
                 const QRect& body,
                 const CellLook& look,
                 const Colours& colours) {
    const QColor fill = look.kind == Sublayer::Attention ? colours.attention : colours.mlp;
    const int middle = body.height() / 2;
    const QRect halves[] = {body.adjusted(0, 0, 0, middle - body.height()),
                            body.adjusted(0, middle, 0, 0)};
    const bool isSkipped[] = {look.isSkipped, look.isSkippedBySecond};
    for (int i = 0; i < 2; ++i) {
        painter.fillRect(halves[i], isSkipped[i] ? fill : colours.kept);
        if (isSkipped[i] && body.width() >= kNarrowestHatchedCell)
            paintHatch(painter, halves[i], look.kind, colours.hatch);
    }
    if (body.width() >= kNarrowestHatchedCell)
        paintFrame(painter, body, 1, colours.keptOutline);
}

/// A column of a few pixels: the fill alone, and bars for what is outlined elsewhere.
void paintNarrow(QPainter& painter,
                 const QRect& section,
                 const CellLook& look,
                 const Colours& colours) {
    const QColor fill = look.kind == Sublayer::Attention ? colours.attention : colours.mlp;
    const QRect body = section.adjusted(0, 3, 0, -3);
    painter.fillRect(body, look.isSkipped ? fill : colours.kept);
    if (look.isCompared)
        paintHalves(painter, body, look, colours);
    if (look.isLocked)
        painter.fillRect(body.left(), body.center().y() - 1, body.width(), 3, colours.text);
    if (look.isCopy)
        paintCopyBar(painter, body, colours.text);
    if (!look.differs && !look.isCurrent)
        return;
    const QColor bar = look.isCurrent ? colours.text : colours.accent;
    painter.fillRect(section.left(), section.top(), section.width(), 2, bar);
    painter.fillRect(section.left(), section.bottom() - 1, section.width(), 2, bar);
}

/// What was added to the model has a plus.
void paintDraftLayer(QPainter& painter,
                     const QRect& section,
                     const CellLook& look,
                     const Colours& colours) {
    const QRect body = section.adjusted(1, 1, -1, -1);
    painter.fillRect(body, colours.kept);
    paintFrame(painter, body, 2, look.isCurrent ? colours.text : colours.accent);
    const int arm = std::clamp(std::min(body.width(), body.height()) / 2 - 4, 1, 5);
    const QPoint centre = body.center();
    painter.fillRect(centre.x() - arm, centre.y(), 2 * arm + 1, 1, colours.text);
    painter.fillRect(centre.x(), centre.y() - arm, 1, 2 * arm + 1, colours.text);
}

QRect bodyOf(const QRect& section, bool isOutlined) {
    if (section.width() < kRoomyCell)
        return isOutlined ? section.adjusted(1, 3, -2, -3) : section.adjusted(0, 1, -1, -1);
    const int inset = isOutlined ? 3 : 1;
    return section.adjusted(inset, inset, -inset, -inset);
}

} // namespace

void paintHatch(QPainter& painter, const QRect& area, Sublayer kind, const QColor& colour) {
    if (kind == Sublayer::Attention)
        paintDiagonals(painter, area, colour);
    else
        paintDots(painter, area, colour);
}

void paintCell(QPainter& painter,
               const QRect& section,
               const CellLook& look,
               const Colours& colours) {
    if (look.isDraftLayer) {
        paintDraftLayer(painter, section, look, colours);
        return;
    }
    if (section.width() < kNarrowestHatchedCell) {
        paintNarrow(painter, section, look, colours);
        return;
    }
    const bool isOutlined = look.differs || look.isCurrent;
    const QRect body = bodyOf(section, isOutlined);
    const QColor fill = look.kind == Sublayer::Attention ? colours.attention : colours.mlp;
    painter.fillRect(body, look.isSkipped ? fill : colours.kept);
    if (look.isCompared)
        paintHalves(painter, body, look, colours);
    else if (look.isSkipped)
        paintHatch(painter, body.adjusted(0, 1, 0, -1), look.kind, colours.hatch);
    else
        paintFrame(painter, body, 1, colours.keptOutline);
    if (look.isLocked)
        paintLock(painter, body, look.isSkipped ? colours.panel : colours.text);
    if (look.isCopy)
        paintCopyBar(painter, body, colours.text);
    if (!isOutlined)
        return;
    const bool isRoomy = section.width() >= kRoomyCell;
    const QRect outer = isRoomy ? section : section.adjusted(0, 0, -1, 0);
    paintFrame(painter, outer, isRoomy ? 2 : 1, look.isCurrent ? colours.text : colours.accent);
}

} // namespace ui
