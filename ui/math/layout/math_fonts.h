// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/math/math_node.h"
#include "ui/math/math_picture.h"

#include <QFont>

namespace ui {

/// How large a part is set: as a line of its own, within a line, in scripts, in their scripts.
enum class MathLevel { Display, Inline, Script, SmallScript };

/// The fonts and measures of one formula. Letters are set in the first serif family that is
/// installed; Qt takes signs that it lacks from other fonts. Thread: any.
class MathFonts {
public:
    /// `base` is the font of the text around the formula.
    explicit MathFonts(const QFont& base);

    QFont font(MathFont font, MathLevel level, double larger = 1.0) const;

    /// A text in one font with its true bounds.
    MathPicture glyphs(const QString& text, const QFont& font) const;

    /// Where its ink is, relative to its baseline's start.
    static QRectF ink(const MathPicture::Glyphs& glyphs);

    // In pixels at a level.
    double em(MathLevel level) const;

    double axis(MathLevel level) const { return m_axis * em(level); }

    double xHeight(MathLevel level) const { return m_xHeight * em(level); }

    double rule(MathLevel level) const { return 0.05 * em(level); }

private:
    QFont m_base;
    QFont m_letters;
    double m_axis = 0.0; ///< of an em
    double m_xHeight = 0.0;
};

/// The level of a fraction's parts, and of scripts.
MathLevel fractionLevel(MathLevel level);
MathLevel scriptLevel(MathLevel level);

} // namespace ui
