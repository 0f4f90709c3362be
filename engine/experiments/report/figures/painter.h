// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/figures/axis_scale.h"
#include "engine/experiments/report/figures/draw_figure.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Adds marks to a drawing; all lengths are given for a text scale of 1.
class Painter {
public:
    Painter(const FigureCanvas& canvas, Drawing& drawing);

    /// A length at the canvas's text scale.
    double px(double length) const { return length * m_scale; }

    double width() const { return m_drawing.width; }

    double textWidth(std::string_view text, const TextStyle& style) const;

    TextStyle small(bool isBold = false) const { return {px(11.0), isBold, false}; }

    TextStyle body(bool isBold = false) const { return {px(12.0), isBold, false}; }

    TextStyle number(bool isBold = false) const { return {px(11.0), isBold, true}; }

    /// The text cut to a width, with "…" at its end.
    std::string fitted(const std::string& text, const TextStyle& style, double width) const;

    double widest(std::span<const std::string> texts, const TextStyle& style) const;

    void line(std::vector<DrawingPoint> points,
              Ink ink,
              double strokeWidth = 1.0,
              std::vector<double> dashes = {});
    Mark& rectangle(DrawingPoint from, DrawingPoint to, Ink fill);
    void outline(DrawingPoint from, DrawingPoint to, Ink ink, double strokeWidth = 1.0);
    void circle(DrawingPoint centre, double radius, std::optional<Ink> fill, Ink stroke);
    void diamond(DrawingPoint centre, double radius, std::optional<Ink> fill, Ink stroke);
    /// A value that a paper prints: a dashed hollow square; of a share a frame as wide as it is,
    /// and a line where the value has no single place.
    void paperSquare(DrawingPoint centre);
    void paperFrame(DrawingPoint from, DrawingPoint to);
    void paperLine(DrawingPoint from, DrawingPoint to);
    /// The horizontal (or upright) interval mark without its point.
    void whisker(DrawingPoint low, DrawingPoint high, Ink ink);
    /// `at` is where the baseline begins, ends or has its middle.
    void text(DrawingPoint at,
              std::string text,
              const TextStyle& style,
              Ink ink,
              TextAnchor anchor = TextAnchor::Start);
    /// The same on a ground of its own, so that lines behind it do not disturb.
    void haloText(DrawingPoint at,
                  const std::string& text,
                  const TextStyle& style,
                  Ink ink,
                  TextAnchor anchor,
                  Ink ground = Ink::Panel);

    /// Text that begins at a point and is turned around it.
    void turnedText(
        DrawingPoint at, const std::string& text, const TextStyle& style, Ink ink, double degrees);

    void setHeight(double height) { m_drawing.height = height; }

private:
    Mark& add(MarkShape shape, std::vector<DrawingPoint> points);

    const FigureCanvas& m_canvas;
    Drawing& m_drawing;
    double m_scale;
};

/// A sample and its name above a figure.
struct LegendEntry {
    std::string text;
    std::function<void(Painter&, DrawingPoint)> sample; ///< at the middle of a box 22 wide
};

/// Draws a legend from the right end at `top` and returns the y below it; `top` without entries.
/// Entries that do not fit go on in the next line.
double drawLegend(Painter& painter, std::span<const LegendEntry> entries, double top);

/// Small multiples: how many stand side by side, and where.
struct PanelGrid {
    int columns = 1;
    int rows = 1;
    double panelWidth = 0.0;

    /// `width` for all panels with `gap` between them, none narrower than `least` if possible.
    static PanelGrid of(std::size_t panels, double width, double least, double gap);
};

/// Dots, bars and stacked bars: categories down the left, values to the right.
void drawCategories(const ResultFigure& figure, const FigureCanvas& canvas, Painter& painter);

void drawLines(const ResultFigure& figure, const FigureCanvas& canvas, Painter& painter);
void drawMatrix(const ResultFigure& figure, const FigureCanvas& canvas, Painter& painter);
void drawLayerGrids(const ResultFigure& figure, const FigureCanvas& canvas, Painter& painter);

/// The ink of the part of a stack, and of the text on it.
Ink partInk(std::size_t part);
Ink partTextInk(std::size_t part);

} // namespace engine
