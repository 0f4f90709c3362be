// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QColor>
#include <QFont>
#include <QPainterPath>
#include <QPointF>
#include <QRectF>
#include <QString>

#include <vector>

class QPainter;

namespace ui {

/// A laid-out formula or a part of one. Positions are relative to the start of its baseline, y
/// grows downwards, in pixels. A plain value.
struct MathPicture {
    struct Glyphs {
        QPointF at; ///< on the baseline
        QString text;
        QFont font;
    };

    double width = 0.0;
    double ascent = 0.0;  ///< above the baseline
    double descent = 0.0; ///< below it
    double slant = 0.0;   ///< by how much its top right corner overhangs its width
    std::vector<Glyphs> glyphs;
    std::vector<QPainterPath> paths; ///< filled
    std::vector<QRectF> rules;       ///< filled, at least one pixel high when painted

    double height() const { return ascent + descent; }

    /// Adds a part with its baseline's start at this point; width is not changed.
    void place(MathPicture part, QPointF at);

    /// Appends a part at the right.
    void append(MathPicture part);

    /// Draws it with its baseline's start at this point, `scale` times as large.
    void paint(QPainter& painter, QPointF at, const QColor& colour, double scale = 1.0) const;
};

} // namespace ui
