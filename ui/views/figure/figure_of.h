// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/picture_file.h"
#include "ui/shell/view.h"

namespace ui {

/// The table of a plot as a view hands it out.
FigureTable figureOf(const PlotTable& table);

/// Draws a plot, as lines and texts, where a view shall draw its figure.
void drawFigureOf(PictureSource& source, QPainter& painter, const QSize& size);

} // namespace ui
