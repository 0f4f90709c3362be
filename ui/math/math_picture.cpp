// SPDX-License-Identifier: GPL-3.0-only
#include "ui/math/math_picture.h"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ui {

void MathPicture::place(MathPicture part, QPointF at) {
    ascent = std::max(ascent, part.ascent - at.y());
    descent = std::max(descent, part.descent + at.y());
    for (Glyphs& each : part.glyphs) {
        each.at += at;
        glyphs.push_back(std::move(each));
    }
    for (QPainterPath& path : part.paths)
        paths.push_back(path.translated(at));
    for (const QRectF& rule : part.rules)
        rules.push_back(rule.translated(at));
}

void MathPicture::append(MathPicture part) {
    const double x = width;
    width += part.width;
    slant = part.slant;
    place(std::move(part), {x, 0.0});
}

void MathPicture::paint(QPainter& painter, QPointF at, const QColor& colour, double scale) const {
    painter.save();
    painter.translate(at);
    painter.scale(scale, scale);
    painter.setPen(colour);
    for (const Glyphs& each : glyphs) {
        painter.setFont(each.font);
        painter.drawText(each.at, each.text);
    }
    // Rules on whole pixels stay sharp; a slanted or printed page has none to hit.
    for (QRectF rule : rules) {
        rule.setHeight(std::max(1.0, std::round(rule.height())));
        rule.moveTop(std::round(at.y() + rule.top()) - at.y());
        painter.fillRect(rule, colour);
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    for (const QPainterPath& path : paths)
        painter.drawPath(path);
    painter.restore();
}

} // namespace ui
