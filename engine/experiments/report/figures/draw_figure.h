// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/experiment_result.h"
#include "engine/experiments/report/figures/drawing.h"

namespace engine {

/// Where a figure is drawn.
struct FigureCanvas {
    double width = 900.0;   ///< of the drawing; at least 240 are used
    double minHeight = 0.0; ///< the plots grow to it; a figure that needs more takes more
    double textScale = 1.0;
    TextWidth textWidth = {};      ///< none: that of reportTextWidth()
    std::size_t mostPictures = 24; ///< of a film, evenly chosen
};

/// Draws a figure without its title. Its height follows from what it shows. Several panels are set
/// side by side and wrap when they become too narrow. Thread: any.
Drawing drawFigure(const ResultFigure& figure, const FigureCanvas& canvas);

/// The same values as a table: what a screen reader and a spreadsheet get. n, of how many prompts a
/// value is, stands in the head if it is the same for all, else with each value.
ResultTable figureTable(const ResultFigure& figure);

/// The width of a text in the fonts of the reports (Inter, Noto Sans Mono), from a table of
/// character widths, so that a report looks the same wherever it was written.
double reportTextWidth(std::string_view text, const TextStyle& style);

} // namespace engine
