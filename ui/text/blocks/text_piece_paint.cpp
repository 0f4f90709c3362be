// SPDX-License-Identifier: GPL-3.0-only
#include "ui/origin/origin_paint.h"
#include "ui/text/blocks/text_piece.h"

#include <QPaintDevice>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

/// Edges on whole device pixels, so that neighbours touch without a seam.
QRectF snapped(const QRectF& box, const QPainter& painter) {
    const double ratio = painter.device()->devicePixelRatioF();
    const auto snap = [&](double value) { return std::round(value * ratio) / ratio; };
    const double left = snap(box.left());
    const double top = snap(box.top());
    return {left, top, snap(box.right()) - left, snap(box.bottom()) - top};
}

/// The sign in front of the further lines of a long line of code.
void paintWrapSign(QPainter& painter, const Theme& theme, const QRectF& box) {
    const double size = theme.scaled(6);
    const QPointF corner(std::round(box.center().x() - size / 2.0) + 0.5,
                         std::round(box.center().y() - size / 2.0) + 0.5);
    QPen pen(theme.colours().muted);
    pen.setCosmetic(true);
    painter.setPen(pen);
    painter.drawLine(corner, corner + QPointF(0, size));
    painter.drawLine(corner + QPointF(0, size), corner + QPointF(size, size));
    painter.drawLine(corner + QPointF(size - 2, size - 2), corner + QPointF(size, size));
    painter.drawLine(corner + QPointF(size - 2, size + 2), corner + QPointF(size, size));
}

} // namespace

void TextPiece::paint(QPainter& painter,
                      const MessageContext& context,
                      const PiecePaint& paint) const {
    const double top = paint.clip.top() - paint.at.y();
    const double bottom = paint.clip.bottom() - paint.at.y();
    const int first = std::max(0, lineAt(top).lineNumber() - 1);
    const int last = std::min(m_layout->lineCount() - 1, lineAt(bottom).lineNumber() + 1);
    for (int index = first; index <= last; ++index)
        paintLine(painter, context, paint, index);
}

void TextPiece::paintLine(QPainter& painter,
                          const MessageContext& context,
                          const PiecePaint& paint,
                          int lineIndex) const {
    const QTextLine line = m_layout->lineAt(lineIndex);
    const Colours& colours = context.theme.colours();
    paintGrounds(painter, context, paint, line);
    paintSelection(painter, context, paint, line);
    if (context.showsOrigin)
        paintOrigin(painter, context, paint, line);
    if (m_isCode && lineIndex > 0)
        paintWrapSign(painter,
                      context.theme,
                      QRectF(paint.at.x(), paint.at.y() + lineTop(line), line.x(), m_lineHeight));
    painter.setPen(m_isMuted ? colours.muted : colours.text);
    line.draw(&painter, paint.at);
    paintFormulas(painter, context, paint, line);
    for (const Sign& sign : m_signs) {
        const bool isHere =
            sign.start >= line.textStart() && sign.start < line.textStart() + line.textLength();
        if (sign.token < 0 || !isHere)
            continue;
        paintRank(painter,
                  context.theme,
                  context.tokens[static_cast<std::size_t>(sign.token)],
                  paint.at + QPointF(line.cursorToX(sign.start), baseline(line)));
    }
}

void TextPiece::paintFormulas(QPainter& painter,
                              const MessageContext& context,
                              const PiecePaint& paint,
                              const QTextLine& line) const {
    const Colours& colours = context.theme.colours();
    for (const ShownFormula& formula : m_formulas) {
        if (formula.start < line.textStart() ||
            formula.start >= line.textStart() + line.textLength())
            continue;
        const double x = std::min(line.cursorToX(formula.start), line.cursorToX(formula.start + 1));
        formula.picture.paint(painter,
                              paint.at + QPointF(x, baseline(line)),
                              m_isMuted ? colours.muted : colours.text,
                              formula.scale);
    }
}

/// Grounds of inline code, then the tints of tokens over them.
void TextPiece::paintGrounds(QPainter& painter,
                             const MessageContext& context,
                             const PiecePaint& paint,
                             const QTextLine& line) const {
    for (const StyleSpan& span : m_styles) {
        if ((span.style & kInlineCode) == 0)
            continue;
        const QRectF box = boxOf(line, span.start, span.length).translated(paint.at);
        if (!box.isEmpty())
            painter.fillRect(snapped(box.adjusted(0, 0, 0, -originDrop(context.theme)), painter),
                             context.theme.colours().hover);
    }
    if (!context.showsOrigin)
        return;
    for (const TokenSpan& span : m_spans) {
        const QRectF box = boxOf(line, span.start, span.length).translated(paint.at);
        if (!box.isEmpty())
            paintOriginGround(painter,
                              context.theme,
                              context.tokens[static_cast<std::size_t>(span.token)],
                              snapped(box, painter));
    }
}

void TextPiece::paintSelection(QPainter& painter,
                               const MessageContext& context,
                               const PiecePaint& paint,
                               const QTextLine& line) const {
    if (paint.selectionBegin >= paint.selectionEnd)
        return;
    const int from = placeOf(paint.selectionBegin);
    const int to = placeOf(paint.selectionEnd);
    QRectF box = boxOf(line, from, to - from);
    const bool isLast = line.lineNumber() == m_layout->lineCount() - 1;
    if (isLast && m_newline >= paint.selectionBegin && m_newline < paint.selectionEnd) {
        // A selected line end is drawn, because an empty line would not look selected otherwise.
        const double end = line.cursorToX(static_cast<int>(m_layout->text().size()));
        if (box.isNull())
            box = QRectF(end, lineTop(line), 0, m_boxHeight);
        box.setRight(std::max(box.right(), end) + context.theme.scaled(6));
    }
    if (box.width() <= 0.0)
        return;
    // The whole height of the line, so that selected lines are one area.
    box.setTop(lineTop(line));
    box.setHeight(lineHeight(line));
    QColor ground = context.theme.colours().accent;
    ground.setAlphaF(context.theme.colours().isDark ? 0.40F : 0.25F);
    painter.fillRect(snapped(box.translated(paint.at), painter), ground);
}

void TextPiece::paintOrigin(QPainter& painter,
                            const MessageContext& context,
                            const PiecePaint& paint,
                            const QTextLine& line) const {
    for (const TokenSpan& span : m_spans) {
        const QRectF box = boxOf(line, span.start, span.length).translated(paint.at);
        if (box.isEmpty())
            continue;
        const TokenMark& token = context.tokens[static_cast<std::size_t>(span.token)];
        paintOriginLine(painter, context.theme, token, snapped(box, painter));
        if (span.token != paint.ringToken)
            continue;
        const double width = context.theme.scaled(2);
        QPen pen(context.theme.colours().focus, width);
        pen.setJoinStyle(Qt::MiterJoin);
        painter.setPen(pen);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(snapped(box, painter).adjusted(-1, -1, 1, 1));
    }
}

} // namespace ui
