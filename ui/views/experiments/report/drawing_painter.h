// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/report/figures/draw_figure.h"
#include "ui/theme/theme.h"

class QPainter;

namespace ui {

/// The font of a text in a drawing.
QFont drawingFont(const engine::TextStyle& style, const Theme& theme);

/// Measures texts in the window's fonts; the theme must live longer.
engine::TextWidth drawingTextWidth(const Theme& theme);

/// Draws the marks in the theme's colours. Suitable for the screen and for vector files.
void paintDrawing(QPainter& painter, const engine::Drawing& drawing, const Theme& theme);

} // namespace ui
