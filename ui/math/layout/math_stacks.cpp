// SPDX-License-Identifier: GPL-3.0-only
#include "ui/math/layout/math_layout.h"
#include "ui/math/layout/math_shapes.h"

#include <algorithm>
#include <utility>

// Fractions, roots, scripts, and what stands over or below something.

namespace ui {

MathPicture MathLayout::fraction(const MathNode& node, MathLevel level) const {
    const MathLevel outer = node.amount == 1.0   ? MathLevel::Display
                            : node.amount == 2.0 ? MathLevel::Inline
                                                 : level;
    const MathLevel inner = fractionLevel(outer);
    const double em = m_fonts.em(level);
    const double rule = m_fonts.rule(level);
    const double axis = m_fonts.axis(level);
    MathPicture above = layOut(node.parts[0], inner);
    MathPicture below = layOut(node.parts[1], inner);
    const bool isLarge = outer == MathLevel::Display;
    const double gap = (node.isBare ? 0.16 : isLarge ? 0.14 : 0.09) * em;
    const double pad = node.isBare ? 0.05 * em : 0.1 * em;
    const double width = std::max(above.width, below.width) + 2.0 * pad;
    const double up =
        std::max(axis + rule / 2.0 + gap + above.descent, (isLarge ? 0.65 : 0.42) * em);
    const double down =
        std::max(gap + rule / 2.0 - axis + below.ascent, (isLarge ? 0.66 : 0.38) * em);
    MathPicture picture;
    const double aboveX = (width - above.width) / 2.0;
    const double belowX = (width - below.width) / 2.0;
    picture.place(std::move(above), {aboveX, -up});
    picture.place(std::move(below), {belowX, down});
    picture.width = width;
    if (!node.isBare)
        picture.rules.push_back({0.0, -axis - rule / 2.0, width, rule});
    if (!node.fences.isEmpty()) {
        std::vector<MathPicture> inside;
        inside.push_back(std::move(picture));
        return betweenFences(std::move(inside), node.fences, level);
    }
    MathPicture padded; // a little room at both sides
    padded.width = 0.06 * em;
    padded.append(std::move(picture));
    padded.width += 0.06 * em;
    return padded;
}

MathPicture MathLayout::root(const MathNode& node, MathLevel level) const {
    const double em = m_fonts.em(level);
    const double rule = m_fonts.rule(level);
    MathPicture inside = layOut(node.parts[0], level);
    const double gap = rule + (level == MathLevel::Display ? 0.12 : 0.08) * em;
    const double ascent = std::max(inside.ascent, m_fonts.xHeight(level)) + gap + rule;
    const double descent = inside.descent + 0.06 * em;
    MathPicture sign = rootSign(inside.width + 0.08 * em, ascent, descent, em, rule);
    MathPicture picture;
    if (!node.parts[1].isEmptyRow()) {
        MathPicture index = layOut(node.parts[1], MathLevel::SmallScript);
        const double raise = descent - std::min((ascent + descent) * 0.5, em * 0.55) - 0.1 * em;
        const double overlap = std::min(index.width, sign.width * 0.35);
        const double width = index.width;
        picture.place(std::move(index), {0.0, raise - 0.02 * em});
        picture.width = width - overlap;
    }
    picture.append(std::move(sign));
    picture.append(std::move(inside));
    picture.width += 0.08 * em;
    picture.slant = 0.0;
    return picture;
}

MathPicture MathLayout::scripts(const MathNode& node, MathLevel level) const {
    const MathNode& base = node.parts[0];
    const bool isOver =
        node.hasLimits && (level == MathLevel::Display || base.kind == MathKind::Brace ||
                           (!base.isLarge && base.kind == MathKind::Symbol));
    if (!isOver)
        return sideScripts(node, level);
    const MathLevel small = scriptLevel(level);
    return stacked(
        layOut(base, level), layOut(node.parts[2], small), layOut(node.parts[1], small), level);
}

MathPicture MathLayout::sideScripts(const MathNode& node, MathLevel level) const {
    const MathLevel small = scriptLevel(level);
    const double em = m_fonts.em(level);
    const bool hasBelow = !node.parts[1].isEmptyRow();
    const bool hasAbove = !node.parts[2].isEmptyRow();
    MathPicture base = layOut(node.parts[0], level);
    MathPicture below = layOut(node.parts[1], small);
    MathPicture above = layOut(node.parts[2], small);
    // A letter's scripts stand where every letter's do; others follow their base's height.
    const MathKind kind = node.parts[0].kind;
    const bool isLetter = kind == MathKind::Symbol && !node.parts[0].isLarge;
    double up = std::max((level == MathLevel::Display ? 0.42 : 0.37) * em,
                         above.descent + m_fonts.xHeight(level) / 4.0);
    double down =
        std::max((hasAbove ? 0.25 : 0.16) * em, below.ascent - 0.8 * m_fonts.xHeight(level));
    if (!isLetter) {
        up = std::max(up, base.ascent - 0.38 * m_fonts.em(small));
        down = std::max(down, base.descent + 0.12 * m_fonts.em(small));
    }
    if (hasAbove && hasBelow) {
        const double between = (up - above.descent) - (below.ascent - down);
        const double least = 4.0 * m_fonts.rule(level);
        if (between < least)
            down += least - between;
    }
    const bool isLarge = node.parts[0].isLarge;
    // An integral leans: its lower limit stands further left.
    const double back = isLarge ? base.width * 0.18 : 0.0;
    const double lean = isLarge ? 0.0 : base.slant;
    const double x = base.width;
    const double belowWidth = below.width - back;
    const double aboveWidth = above.width + lean;
    MathPicture picture = std::move(base);
    if (hasBelow)
        picture.place(std::move(below), {x - back, down});
    if (hasAbove)
        picture.place(std::move(above), {x + lean, -up});
    picture.width =
        x + std::max(hasBelow ? belowWidth : 0.0, hasAbove ? aboveWidth : 0.0) + 0.04 * em;
    picture.slant = 0.0;
    return picture;
}

MathPicture
MathLayout::stacked(MathPicture base, MathPicture above, MathPicture below, MathLevel level) const {
    const double em = m_fonts.em(level);
    const double width = std::max({base.width, above.width, below.width});
    const double gap = 0.16 * em;
    const double up = base.ascent + gap + above.descent;
    const double down = base.descent + gap + below.ascent;
    MathPicture picture;
    const bool hasAbove = above.width > 0.0;
    const bool hasBelow = below.width > 0.0;
    const double aboveX = (width - above.width) / 2.0;
    const double belowX = (width - below.width) / 2.0;
    const double baseX = (width - base.width) / 2.0;
    picture.place(std::move(base), {baseX, 0.0});
    if (hasAbove)
        picture.place(std::move(above), {aboveX, -up});
    if (hasBelow)
        picture.place(std::move(below), {belowX, down});
    picture.width = width;
    return picture;
}

MathPicture MathLayout::line(const MathNode& node, MathLevel level) const {
    MathPicture picture = layOut(node.parts[0], level);
    const double rule = m_fonts.rule(level);
    const double gap = 0.1 * m_fonts.em(level);
    const bool isOver = !node.text.isEmpty();
    const double y = isOver ? -picture.ascent - gap - rule : picture.descent + gap;
    picture.rules.push_back({0.0, y, picture.width, rule});
    if (isOver)
        picture.ascent += gap + 2.0 * rule;
    else
        picture.descent += gap + 2.0 * rule;
    return picture;
}

MathPicture MathLayout::brace(const MathNode& node, MathLevel level) const {
    MathPicture base = layOut(node.parts[0], level);
    const double em = m_fonts.em(level);
    const bool isOver = !node.text.isEmpty();
    const double gap = 0.08 * em;
    const double y = isOver ? -base.ascent - gap : base.descent + gap;
    MathPicture sign = lyingBrace(base.width, em, isOver);
    base.place(std::move(sign), {0.0, y});
    return base;
}

MathPicture MathLayout::arrow(const MathNode& node, MathLevel level) const {
    const MathLevel small = scriptLevel(level);
    const double em = m_fonts.em(level);
    MathPicture above = layOut(node.parts[0], small);
    MathPicture below = layOut(node.parts[1], small);
    const double width = std::max({above.width, below.width, em}) + 0.6 * em;
    return stacked(longArrow(width, m_fonts.axis(level), em, node.fences.value(0) == u"←"),
                   std::move(above),
                   std::move(below),
                   level);
}

MathPicture MathLayout::frame(const MathNode& node, MathLevel level) const {
    MathPicture inside = layOut(node.parts[0], level);
    const double gap = 0.25 * m_fonts.em(level);
    const double rule = m_fonts.rule(level);
    MathPicture picture;
    picture.width = gap;
    picture.append(std::move(inside));
    picture.width += gap;
    picture.slant = 0.0;
    picture.ascent += gap;
    picture.descent += gap;
    const double top = -picture.ascent;
    QPainterPath outline;
    outline.setFillRule(Qt::OddEvenFill);
    const QRectF outer(0.0, top, picture.width, picture.height());
    outline.addRect(outer);
    outline.addRect(outer.adjusted(rule, rule, -rule, -rule));
    picture.paths.push_back(outline);
    return picture;
}

} // namespace ui
