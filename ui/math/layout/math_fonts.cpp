// SPDX-License-Identifier: GPL-3.0-only
#include "ui/math/layout/math_fonts.h"

#include <QFontDatabase>
#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr double kSmallestPixels = 7.0;

QString letterFamily() {
    static const QString family = [] {
        const QStringList installed = QFontDatabase::families();
        for (const char* wanted : {"STIX Two Text",
                                   "Latin Modern Roman",
                                   "Libertinus Serif",
                                   "TeX Gyre Termes",
                                   "Noto Serif",
                                   "DejaVu Serif",
                                   "Liberation Serif"})
            if (installed.contains(QLatin1String(wanted)))
                return QString::fromLatin1(wanted);
        return QString();
    }();
    return family;
}

} // namespace

MathFonts::MathFonts(const QFont& base)
    : m_base(base)
    , m_letters(base) {
    m_base.setItalic(false);
    m_base.setStrikeOut(false);
    m_base.setUnderline(false);
    m_letters = m_base;
    if (!letterFamily().isEmpty())
        m_letters.setFamily(letterFamily());
    else
        m_letters.setStyleHint(QFont::Serif);
    const QFontMetricsF metrics(m_letters);
    const QRectF plus = metrics.tightBoundingRect(QStringLiteral("+"));
    m_axis = -plus.center().y() / em(MathLevel::Inline);
    m_xHeight = -metrics.tightBoundingRect(QStringLiteral("x")).top() / em(MathLevel::Inline);
}

double MathFonts::em(MathLevel level) const {
    const double share = level == MathLevel::Script        ? 0.72
                         : level == MathLevel::SmallScript ? 0.55
                                                           : 1.0;
    return std::max(kSmallestPixels, m_base.pixelSize() * share);
}

QFont MathFonts::font(MathFont font, MathLevel level, double larger) const {
    const bool isBase = font == MathFont::Sans;
    QFont made = isBase ? m_base : m_letters;
    if (font == MathFont::Mono) {
        made.setFamily(QFontDatabase::systemFont(QFontDatabase::FixedFont).family());
        made.setStyleHint(QFont::Monospace);
    }
    made.setPixelSize(static_cast<int>(std::lround(em(level) * larger)));
    made.setItalic(font == MathFont::Italic || font == MathFont::BoldItalic);
    if (font == MathFont::Bold || font == MathFont::BoldItalic)
        made.setWeight(QFont::Bold);
    return made;
}

MathPicture MathFonts::glyphs(const QString& text, const QFont& font) const {
    MathPicture picture;
    const QFontMetricsF metrics(font);
    const QRectF ink = metrics.tightBoundingRect(text);
    picture.width = metrics.horizontalAdvance(text);
    picture.ascent = std::max(0.0, -ink.top());
    picture.descent = std::max(0.0, ink.bottom());
    picture.slant = font.italic() ? std::max(0.0, ink.right() - picture.width) : 0.0;
    picture.glyphs.push_back({{0.0, 0.0}, text, font});
    return picture;
}

QRectF MathFonts::ink(const MathPicture::Glyphs& glyphs) {
    return QFontMetricsF(glyphs.font).tightBoundingRect(glyphs.text);
}

MathLevel fractionLevel(MathLevel level) {
    return level == MathLevel::Display  ? MathLevel::Inline
           : level == MathLevel::Inline ? MathLevel::Script
                                        : MathLevel::SmallScript;
}

MathLevel scriptLevel(MathLevel level) {
    return level == MathLevel::Display || level == MathLevel::Inline ? MathLevel::Script
                                                                     : MathLevel::SmallScript;
}

} // namespace ui
