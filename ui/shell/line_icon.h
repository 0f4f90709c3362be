// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QColor>
#include <QIcon>

namespace ui {

/// Small pictures drawn with a pen, so that they follow the theme and any scale.
enum class LineIcon { Reset, Dice, Question, Check, Cross, ChevronDown, Warning, Folder, File };

/// Draws the icon into `area` of a painter.
void drawLineIcon(QPainter& painter, LineIcon icon, const QRectF& area, const QColor& colour);

/// The icon for buttons, `pixels` wide at scale 1, sharp up to scale 3. `disabled` is its colour
/// while the button is.
QIcon lineIcon(LineIcon icon, int pixels, const QColor& colour, const QColor& disabled);

} // namespace ui
