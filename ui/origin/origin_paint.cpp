// SPDX-License-Identifier: GPL-3.0-only
#include "ui/origin/origin_paint.h"

#include <QPainter>

#include <cmath>

namespace ui {

namespace {

using engine::TokenOrigin;

constexpr double kSure = 0.8; ///< draft probabilities that part the underlines
constexpr double kLikely = 0.5;

bool isAccepted(TokenOrigin origin) {
    return origin == TokenOrigin::Draft || origin == TokenOrigin::Sibling;
}

/// Strokes of `on` pixels every `period`, in one rhythm for all tokens of a line.
struct Rhythm {
    double on = 1.0;
    double period = 1.0;
};

void paintStrokes(QPainter& painter, const QRectF& line, Rhythm rhythm, const QColor& colour) {
    double x = std::floor(line.left() / rhythm.period) * rhythm.period;
    for (; x < line.right(); x += rhythm.period) {
        const QRectF stroke(x, line.top(), rhythm.on, line.height());
        painter.fillRect(stroke.intersected(line), colour);
    }
}

} // namespace

int originDrop(const Theme& theme) { return theme.scaled(3); }

void paintOriginGround(QPainter& painter,
                       const Theme& theme,
                       const TokenMark& token,
                       const QRectF& box) {
    if (isAccepted(token.origin))
        painter.fillRect(box, theme.colours().accepted);
}

void paintOriginLine(QPainter& painter,
                     const Theme& theme,
                     const TokenMark& token,
                     const QRectF& box) {
    const QColor& colour = theme.colours().acceptedLine;
    const int thick = theme.scaled(2);
    const int thin = theme.scaled(1);
    const auto lineOf = [&](int thickness) {
        return QRectF(box.left(), box.bottom() - thickness, box.width(), thickness);
    };
    if (token.origin == TokenOrigin::Sibling) {
        paintStrokes(
            painter, lineOf(thick), {theme.scaled(4) * 1.0, theme.scaled(7) * 1.0}, colour);
    } else if (token.origin == TokenOrigin::Draft) {
        if (token.draftProbability > kSure)
            painter.fillRect(lineOf(thick), colour);
        else if (token.draftProbability >= kLikely)
            painter.fillRect(lineOf(thin), colour);
        else
            paintStrokes(painter, lineOf(thin), {thin * 1.0, thin * 3.0}, colour);
    } else if (token.origin == TokenOrigin::Bonus) {
        const double radius = theme.scaled(4) / 2.0;
        painter.save();
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.colours().text);
        const QPointF centre(std::round(box.center().x()), box.bottom() - radius);
        painter.drawEllipse(centre, radius, radius);
        painter.restore();
    }
}

QFont rankFont(const Theme& theme) {
    QFont font = theme.font(TextRole::Tiny);
    font.setPixelSize(theme.scaled(10));
    font.setWeight(QFont::DemiBold);
    return font;
}

void paintRank(QPainter& painter, const Theme& theme, const TokenMark& token, QPointF baseline) {
    painter.setFont(rankFont(theme));
    painter.setPen(theme.colours().acceptedLine);
    painter.drawText(baseline + QPointF(theme.scaled(1), theme.scaled(2)), rankLabel(token));
}

} // namespace ui
