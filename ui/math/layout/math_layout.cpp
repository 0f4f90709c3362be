// SPDX-License-Identifier: GPL-3.0-only
#include "ui/math/layout/math_layout.h"

#include "ui/math/layout/math_shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

// Rows and what stands in them; stacks and tables are in files of their own.

namespace ui {

namespace {

/// Eighteenths of an em between two classes; a negative one only where there is room (not in
/// scripts).
constexpr std::array<std::array<int, 8>, 8> kAtomSpaces = {{
    // ord  op  bin rel open close punct inner
    {{0, 3, -4, -5, 0, 0, 0, -3}},     // ordinary
    {{3, 3, 0, -5, 0, 0, 0, -3}},      // operator
    {{-4, -4, 0, 0, -4, 0, 0, -4}},    // binary
    {{-5, -5, 0, 0, -5, 0, 0, -5}},    // relation
    {{0, 0, 0, 0, 0, 0, 0, 0}},        // opening
    {{0, 3, -4, -5, 0, 0, 0, -3}},     // closing
    {{-3, -3, 0, -3, -3, -3, -3, -3}}, // punctuation
    {{-3, 3, -4, -5, -3, 0, -3, -3}},  // inner
}};

bool isScript(MathLevel level) {
    return level == MathLevel::Script || level == MathLevel::SmallScript;
}

bool isNoAtom(const MathNode& node) {
    return node.kind == MathKind::Space || node.kind == MathKind::Style;
}

/// The class of an atom at its place: a "-" without a left neighbour is a sign, not a difference.
std::vector<AtomClass> classesOf(const std::vector<MathNode>& parts) {
    using enum AtomClass;
    std::vector<AtomClass> classes;
    std::optional<std::size_t> before;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        AtomClass own = parts[i].atom;
        if (!isNoAtom(parts[i])) {
            const bool hasNoLeft = !before || classes[*before] == Operator ||
                                   classes[*before] == Binary || classes[*before] == Relation ||
                                   classes[*before] == Opening || classes[*before] == Punctuation;
            if (own == Binary && hasNoLeft)
                own = Ordinary;
            const bool endsHere = own == Relation || own == Closing || own == Punctuation;
            if (endsHere && before && classes[*before] == Binary)
                classes[*before] = Ordinary;
            before = i;
        }
        classes.push_back(own);
    }
    if (before && classes[*before] == Binary)
        classes[*before] = Ordinary;
    return classes;
}

} // namespace

MathPicture MathLayout::layOut(const MathNode& node, MathLevel level) const {
    switch (node.kind) {
    case MathKind::Row:
        return row(node.parts, level);
    case MathKind::Symbol:
    case MathKind::Word:
    case MathKind::Source:
        return symbol(node, level);
    case MathKind::Space: {
        MathPicture space;
        space.width = node.amount * m_fonts.em(level);
        return space;
    }
    case MathKind::Style:
        return {};
    case MathKind::Fraction:
        return fraction(node, level);
    case MathKind::Root:
        return root(node, level);
    case MathKind::Scripts:
        return scripts(node, level);
    case MathKind::Fenced:
        return fenced(node, level);
    case MathKind::Delimiter:
        return fence(node.fences.value(0), node.amount * m_fonts.em(level) / 2.0, level);
    case MathKind::Accent:
        return accent(node, level);
    case MathKind::Line:
        return line(node, level);
    case MathKind::Brace:
        return brace(node, level);
    case MathKind::Stack: {
        const MathLevel small = scriptLevel(level);
        return stacked(layOut(node.parts[0], level),
                       layOut(node.parts[1], small),
                       layOut(node.parts[2], small),
                       level);
    }
    case MathKind::Arrow:
        return arrow(node, level);
    case MathKind::Table:
        return table(node, level);
    case MathKind::Frame:
        return frame(node, level);
    case MathKind::Hidden: {
        MathPicture room = layOut(node.parts[0], level);
        room.glyphs.clear();
        room.paths.clear();
        room.rules.clear();
        return room;
    }
    }
    return {};
}

MathPicture MathLayout::row(const std::vector<MathNode>& parts, MathLevel level) const {
    MathPicture picture;
    const std::vector<AtomClass> classes = classesOf(parts);
    std::optional<AtomClass> before;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].kind == MathKind::Style) {
            level = parts[i].amount == 0.0   ? MathLevel::Display
                    : parts[i].amount == 1.0 ? MathLevel::Inline
                                             : MathLevel::Script;
            continue;
        }
        if (before && !isNoAtom(parts[i])) {
            const int units = kAtomSpaces[static_cast<std::size_t>(*before)]
                                         [static_cast<std::size_t>(classes[i])];
            if (units > 0 || !isScript(level))
                picture.width += std::abs(units) / 18.0 * m_fonts.em(level);
        }
        picture.append(layOut(parts[i], level));
        if (!isNoAtom(parts[i]))
            before = classes[i];
        // An upright neighbour keeps clear of a slanted letter's top.
        const bool isSlanted = parts[i].kind == MathKind::Symbol && picture.slant > 0.0;
        if (isSlanted && i + 1 < parts.size()) {
            picture.width += picture.slant;
            picture.slant = 0.0;
        }
    }
    return picture;
}

MathPicture MathLayout::symbol(const MathNode& node, MathLevel level) const {
    if (!node.isLarge)
        return m_fonts.glyphs(node.text, m_fonts.font(node.font, level));
    const bool isIntegral = !node.hasLimits;
    const double larger = level == MathLevel::Display ? (isIntegral ? 1.9 : 1.6) : 1.15;
    MathPicture sign = m_fonts.glyphs(node.text, m_fonts.font(node.font, level, larger));
    // Large signs are centred on the axis.
    const double down = (sign.ascent - sign.descent) / 2.0 - m_fonts.axis(level);
    MathPicture picture;
    picture.width = sign.width;
    const QPointF at(0.0, down);
    picture.ascent = sign.ascent - down;
    picture.descent = sign.descent + down;
    for (MathPicture::Glyphs& each : sign.glyphs) {
        each.at += at;
        picture.glyphs.push_back(each);
    }
    return picture;
}

/// A fence that reaches `half` above and below the axis; a letter's size while that is enough.
MathPicture MathLayout::fence(const QString& sign, double half, MathLevel level) const {
    if (sign.isEmpty()) {
        MathPicture gap;
        gap.width = 0.12 * m_fonts.em(level);
        return gap;
    }
    const double axis = m_fonts.axis(level);
    MathPicture plain = m_fonts.glyphs(sign, m_fonts.font(MathFont::Upright, level));
    if (half <= 0.55 * m_fonts.em(level) ||
        half <= std::max(plain.ascent - axis, plain.descent + axis))
        return plain;
    return grownFence(sign, half + axis, half - axis, m_fonts.em(level));
}

MathPicture MathLayout::fenced(const MathNode& node, MathLevel level) const {
    std::vector<MathPicture> parts;
    for (const MathNode& part : node.parts)
        parts.push_back(layOut(part, level));
    return betweenFences(std::move(parts), node.fences, level);
}

MathPicture MathLayout::betweenFences(std::vector<MathPicture> parts,
                                      const QStringList& fences,
                                      MathLevel level) const {
    double half = 0.0;
    const double axis = m_fonts.axis(level);
    for (const MathPicture& part : parts)
        half = std::max({half, part.ascent - axis, part.descent + axis});
    // They may be a little shorter than what they hold.
    half = std::max(half * 0.95, half - 0.25 * m_fonts.em(level));
    MathPicture picture = fence(fences.value(0), half, level);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        picture.append(std::move(parts[i]));
        picture.append(fence(fences.value(static_cast<qsizetype>(i) + 1), half, level));
    }
    return picture;
}

MathPicture MathLayout::accent(const MathNode& node, MathLevel level) const {
    MathPicture base = layOut(node.parts[0], level);
    const double em = m_fonts.em(level);
    const double x = base.width / 2.0 + base.slant * 0.8;
    const double top = std::max(base.ascent, m_fonts.xHeight(level)) + 0.08 * em;
    MathPicture picture = base;
    if (node.isLarge && (node.text == u"→" || node.text == u"←")) {
        MathPicture sign = longArrow(base.width, 0.0, em * 0.8, node.text == u"←");
        picture.place(std::move(sign), {0.0, -top - 0.1 * em});
        return picture;
    }
    if (node.text == u"\u00AF" || (node.isLarge && node.text != u"→")) {
        // Bars and wide hats are drawn, so that they fit what is below.
        const double width = std::max(base.width * 0.9, 0.4 * em);
        const double left = x - width / 2.0;
        if (node.text == u"\u00AF") {
            picture.rules.push_back({left, -top - m_fonts.rule(level), width, m_fonts.rule(level)});
        } else {
            const double rise = 0.16 * em;
            QPainterPath roof(QPointF(left, -top));
            const double thick = m_fonts.rule(level) * 1.3;
            if (node.text == u"^") {
                roof.lineTo(left + width / 2.0, -top - rise);
                roof.lineTo(left + width, -top);
                roof.lineTo(left + width / 2.0, -top - rise + thick);
            } else {
                roof.cubicTo({left + width * 0.3, -top - rise * 1.6},
                             {left + width * 0.7, -top + rise * 0.8},
                             {left + width, -top - rise * 0.7});
                roof.cubicTo({left + width * 0.7, -top + rise * 0.8 + thick},
                             {left + width * 0.3, -top - rise * 1.6 + thick},
                             {left, -top});
            }
            roof.closeSubpath();
            picture.paths.push_back(roof);
        }
        picture.ascent = top + 0.2 * em;
        return picture;
    }
    const double share = node.text == u"→" ? 0.7 : 1.0;
    MathPicture sign = m_fonts.glyphs(node.text, m_fonts.font(MathFont::Upright, level, share));
    // Its ink stands right above the base, wherever the font has it.
    const QRectF ink = m_fonts.ink(sign.glyphs.front());
    picture.place(std::move(sign), {x - ink.center().x(), -top - ink.bottom()});
    picture.ascent = std::max(base.ascent, top + 0.28 * em);
    picture.width = base.width;
    return picture;
}

} // namespace ui
