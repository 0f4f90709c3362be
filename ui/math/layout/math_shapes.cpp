// SPDX-License-Identifier: GPL-3.0-only
#include "ui/math/layout/math_shapes.h"

#include <QPainterPathStroker>
#include <QTransform>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

QPainterPath stroked(const QPainterPath& line, double width) {
    QPainterPathStroker stroker;
    stroker.setWidth(width);
    stroker.setCapStyle(Qt::FlatCap);
    stroker.setJoinStyle(Qt::MiterJoin);
    return stroker.createStroke(line);
}

MathPicture bounded(double width, double ascent, double descent) {
    MathPicture picture;
    picture.width = width;
    picture.ascent = ascent;
    picture.descent = descent;
    return picture;
}

/// Between two curves, so that it is thick in the middle and thin at its ends.
QPainterPath parenthesis(double left, double right, double top, double bottom, double thick) {
    const double height = bottom - top;
    const double thin = thick * 0.45;
    QPainterPath path(QPointF(right, top));
    path.cubicTo({left, top + height * 0.27}, {left, bottom - height * 0.27}, {right, bottom});
    path.lineTo(right + thin, bottom - thin * 0.4);
    path.cubicTo({left + thick * 1.35, bottom - height * 0.29},
                 {left + thick * 1.35, top + height * 0.29},
                 {right + thin, top + thin * 0.4});
    path.closeSubpath();
    return path;
}

/// The left brace as a line.
QPainterPath braceLine(double width, double top, double bottom) {
    const double middle = (top + bottom) / 2.0;
    const double stem = width * 0.55;
    const double bend = std::min((bottom - top) * 0.22, width * 1.3);
    QPainterPath path(QPointF(width, top));
    path.cubicTo({stem, top}, {stem, top + bend * 0.4}, {stem, top + bend});
    path.lineTo(stem, middle - bend);
    path.cubicTo({stem, middle - bend * 0.3}, {stem * 0.7, middle}, {0.0, middle});
    path.cubicTo({stem * 0.7, middle}, {stem, middle + bend * 0.3}, {stem, middle + bend});
    path.lineTo(stem, bottom - bend);
    path.cubicTo({stem, bottom - bend * 0.4}, {stem, bottom}, {width, bottom});
    return path;
}

QPainterPath mirrored(const QPainterPath& path, double width) {
    return QTransform(-1, 0, 0, 1, width, 0).map(path);
}

void addBar(QPainterPath& path, double x, double top, double bottom) {
    path.moveTo(x, top);
    path.lineTo(x, bottom);
}

/// Brackets, floors, ceilings: a bar with feet.
QPainterPath bracketLine(double width, double top, double bottom, bool hasTop, bool hasBottom) {
    const double x = width * 0.3;
    QPainterPath path(QPointF(hasTop ? width : x, top));
    path.lineTo(x, top);
    path.lineTo(x, bottom);
    if (hasBottom)
        path.lineTo(width, bottom);
    return path;
}

QPainterPath arrowLine(double x, double top, double bottom, double head, bool isUp, bool isDown) {
    QPainterPath path;
    addBar(path, x, top, bottom);
    if (isUp) {
        path.moveTo(x - head, top + head);
        path.lineTo(x, top);
        path.lineTo(x + head, top + head);
    }
    if (isDown) {
        path.moveTo(x - head, bottom - head);
        path.lineTo(x, bottom);
        path.lineTo(x + head, bottom - head);
    }
    return path;
}

} // namespace

MathPicture grownFence(const QString& sign, double ascent, double descent, double em) {
    if (sign.isEmpty())
        return {};
    const double top = -ascent;
    const double bottom = descent;
    const double height = bottom - top;
    const double thick = std::min(em * 0.11, em * 0.06 + height * 0.012);
    const double width = std::clamp(em * 0.26 + height * 0.05, em * 0.3, em * 0.6);
    MathPicture picture = bounded(width, ascent, descent);
    QPainterPath line;
    const auto draw = [&](const QPainterPath& path) {
        picture.paths.push_back(stroked(path, thick * 0.8));
        return picture;
    };
    switch (sign[0].unicode()) {
    case u'(':
    case u')': {
        const QPainterPath left =
            parenthesis(width * 0.12, width * 0.78, top, bottom, thick * 1.25);
        picture.paths.push_back(sign == u"(" ? left : mirrored(left, width));
        return picture;
    }
    case u'{':
        return draw(braceLine(width * 0.95, top, bottom));
    case u'}':
        return draw(mirrored(braceLine(width * 0.95, top, bottom), width));
    case u'[':
    case u']': {
        const QPainterPath left = bracketLine(width * 0.85, top, bottom, true, true);
        return draw(sign == u"[" ? left : mirrored(left, width));
    }
    case u'⌊':
    case u'⌋': {
        const QPainterPath left = bracketLine(width * 0.85, top, bottom, false, true);
        return draw(sign == u"⌊" ? left : mirrored(left, width));
    }
    case u'⌈':
    case u'⌉': {
        const QPainterPath left = bracketLine(width * 0.85, top, bottom, true, false);
        return draw(sign == u"⌈" ? left : mirrored(left, width));
    }
    case u'⟨':
    case u'⟩': {
        line.moveTo(width * 0.8, top);
        line.lineTo(width * 0.25, (top + bottom) / 2.0);
        line.lineTo(width * 0.8, bottom);
        return draw(sign == u"⟨" ? line : mirrored(line, width));
    }
    case u'/':
    case u'\\': {
        picture.width = std::max(width, height * 0.4);
        line.moveTo(picture.width * 0.9, top);
        line.lineTo(picture.width * 0.1, bottom);
        return draw(sign == u"/" ? line : mirrored(line, picture.width));
    }
    case u'‖':
        addBar(line, width * 0.3, top, bottom);
        addBar(line, width * 0.3 + thick * 2.6, top, bottom);
        return draw(line);
    case u'↑':
    case u'⇑':
        return draw(arrowLine(width * 0.5, top, bottom, em * 0.16, true, false));
    case u'↓':
    case u'⇓':
        return draw(arrowLine(width * 0.5, top, bottom, em * 0.16, false, true));
    case u'↕':
        return draw(arrowLine(width * 0.5, top, bottom, em * 0.16, true, true));
    default:
        picture.width = em * 0.28;
        addBar(line, picture.width * 0.5, top, bottom);
        return draw(line);
    }
}

MathPicture rootSign(double width, double ascent, double descent, double em, double rule) {
    const double top = -ascent + rule / 2.0;
    const double height = ascent + descent;
    const double sign = em * 0.5 + std::min(em * 0.25, height * 0.05);
    MathPicture picture = bounded(sign, ascent, descent);
    const double hook = descent - std::min(height * 0.5, em * 0.55);
    QPainterPath thin(QPointF(0.0, hook + em * 0.06));
    thin.lineTo(sign * 0.24, hook - em * 0.02);
    picture.paths.push_back(stroked(thin, rule));
    QPainterPath thick(QPointF(sign * 0.22, hook - em * 0.02));
    thick.lineTo(sign * 0.48, descent);
    picture.paths.push_back(stroked(thick, rule * 2.0));
    QPainterPath rise(QPointF(sign * 0.48, descent));
    rise.lineTo(sign, top);
    rise.lineTo(sign + width, top);
    picture.paths.push_back(stroked(rise, rule));
    return picture;
}

MathPicture lyingBrace(double width, double em, bool isOver) {
    const double height = em * 0.3;
    // The left brace turned by a quarter: its point, at x = 0, comes to lie above.
    const QPainterPath standing = stroked(braceLine(height, 0.0, width), em * 0.055);
    MathPicture picture = bounded(width, isOver ? height : 0.0, isOver ? 0.0 : height);
    picture.paths.push_back(isOver ? QTransform(0, 1, 1, 0, 0, -height).map(standing)
                                   : QTransform(0, -1, 1, 0, 0, height).map(standing));
    return picture;
}

MathPicture longArrow(double width, double axis, double em, bool isLeft) {
    const double head = em * 0.17;
    MathPicture picture = bounded(width, axis + head, std::max(0.0, head - axis));
    QPainterPath line(QPointF(0.0, -axis));
    line.lineTo(width, -axis);
    line.moveTo(width - head * 1.2, -axis - head);
    line.lineTo(width, -axis);
    line.lineTo(width - head * 1.2, -axis + head);
    const QPainterPath drawn = stroked(line, em * 0.06);
    picture.paths.push_back(isLeft ? mirrored(drawn, width) : drawn);
    return picture;
}

} // namespace ui
