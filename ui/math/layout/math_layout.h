// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/math/layout/math_fonts.h"
#include "ui/math/math_node.h"
#include "ui/math/math_picture.h"

namespace ui {

/// Lays a formula out, in a style after TeX: levels, spaces by class, limits, grown fences. Thread:
/// any.
class MathLayout {
public:
    explicit MathLayout(const QFont& base)
        : m_fonts(base) {}

    MathPicture layOut(const MathNode& node, MathLevel level) const;

private:
    MathPicture row(const std::vector<MathNode>& parts, MathLevel level) const;
    MathPicture symbol(const MathNode& node, MathLevel level) const;
    MathPicture fraction(const MathNode& node, MathLevel level) const;
    MathPicture root(const MathNode& node, MathLevel level) const;
    MathPicture scripts(const MathNode& node, MathLevel level) const;
    MathPicture sideScripts(const MathNode& node, MathLevel level) const;
    MathPicture fenced(const MathNode& node, MathLevel level) const;
    MathPicture
    betweenFences(std::vector<MathPicture> parts, const QStringList& fences, MathLevel level) const;
    MathPicture accent(const MathNode& node, MathLevel level) const;
    MathPicture line(const MathNode& node, MathLevel level) const;
    MathPicture brace(const MathNode& node, MathLevel level) const;
    MathPicture
    stacked(MathPicture base, MathPicture above, MathPicture below, MathLevel level) const;
    MathPicture arrow(const MathNode& node, MathLevel level) const;
    MathPicture frame(const MathNode& node, MathLevel level) const;
    MathPicture table(const MathNode& node, MathLevel level) const;
    MathPicture fence(const QString& sign, double half, MathLevel level) const;

    MathFonts m_fonts;
};

} // namespace ui
