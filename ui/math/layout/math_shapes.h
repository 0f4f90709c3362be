// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/math/math_picture.h"

namespace ui {

// Signs that grow with what they stand beside, drawn as outlines so that no font is needed.

/// A fence ("(", "{", "⌊", "‖", "↑"...) with its top at -ascent and its bottom at descent; `em` is
/// the size of the text around it. Empty for an empty sign.
MathPicture grownFence(const QString& sign, double ascent, double descent, double em);

/// The sign of a root for a radicand of this extent; the radicand begins behind its width. The rule
/// over it is `width` long.
MathPicture rootSign(double width, double ascent, double descent, double em, double rule);

/// A brace lying over (or, turned, below) something of this width; its bounds begin at y = 0 and go
/// upwards (downwards).
MathPicture lyingBrace(double width, double em, bool isOver);

/// An arrow to the right or the left of this width on the axis.
MathPicture longArrow(double width, double axis, double em, bool isLeft);

} // namespace ui
