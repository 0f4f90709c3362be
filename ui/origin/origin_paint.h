// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/origin/token_mark.h"
#include "ui/theme/theme.h"

#include <QRectF>

class QPainter;

namespace ui {

/// Pixels below a token's text that its underline or dot needs.
int originDrop(const Theme& theme);

/// The tint of a token. `box`: its text and the drop below it. Boxes of neighbours touch.
void paintOriginGround(QPainter& painter,
                       const Theme& theme,
                       const TokenMark& token,
                       const QRectF& box);

/// The underline or dot of a token, the cue that does not need colour.
void paintOriginLine(QPainter& painter,
                     const Theme& theme,
                     const TokenMark& token,
                     const QRectF& box);

/// The font of "k2" after a sibling.
QFont rankFont(const Theme& theme);

/// "k2" with its left end of baseline at this point.
void paintRank(QPainter& painter, const Theme& theme, const TokenMark& token, QPointF baseline);

} // namespace ui
