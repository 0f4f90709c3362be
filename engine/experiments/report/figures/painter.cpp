// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/figures/painter.h"

#include <algorithm>
#include <cmath>

namespace engine {

Ink partInk(std::size_t part) {
    return static_cast<Ink>(static_cast<std::size_t>(Ink::Part0) + part % 4);
}

Ink partTextInk(std::size_t part) {
    return static_cast<Ink>(static_cast<std::size_t>(Ink::PartText0) + part % 4);
}

Painter::Painter(const FigureCanvas& canvas, Drawing& drawing)
    : m_canvas(canvas)
    , m_drawing(drawing)
    , m_scale(isDrawable(canvas.textScale) ? std::clamp(canvas.textScale, 0.5, 4.0) : 1.0) {
    m_drawing.width = std::max(isDrawable(canvas.width) ? canvas.width : 0.0, 240.0);
}

double Painter::textWidth(std::string_view text, const TextStyle& style) const {
    return m_canvas.textWidth ? m_canvas.textWidth(text, style) : reportTextWidth(text, style);
}

std::string Painter::fitted(const std::string& text, const TextStyle& style, double width) const {
    if (textWidth(text, style) <= width)
        return text;
    std::string cut = text;
    while (!cut.empty() && textWidth(cut + "…", style) > width) {
        while (!cut.empty() && (static_cast<unsigned char>(cut.back()) & 0xC0U) == 0x80U)
            cut.pop_back();
        if (!cut.empty())
            cut.pop_back();
    }
    while (!cut.empty() && cut.back() == ' ')
        cut.pop_back();
    return cut.empty() ? std::string() : cut + "…";
}

double Painter::widest(std::span<const std::string> texts, const TextStyle& style) const {
    double most = 0.0;
    for (const std::string& text : texts)
        most = std::max(most, textWidth(text, style));
    return most;
}

Mark& Painter::add(MarkShape shape, std::vector<DrawingPoint> points) {
    Mark mark;
    mark.shape = shape;
    mark.points = std::move(points);
    mark.strokeWidth = m_scale;
    m_drawing.marks.push_back(std::move(mark));
    return m_drawing.marks.back();
}

void Painter::line(std::vector<DrawingPoint> points,
                   Ink ink,
                   double strokeWidth,
                   std::vector<double> dashes) {
    Mark& mark = add(MarkShape::Line, std::move(points));
    mark.stroke = ink;
    mark.strokeWidth = px(strokeWidth);
    for (const double dash : dashes)
        mark.dashes.push_back(px(dash));
}

Mark& Painter::rectangle(DrawingPoint from, DrawingPoint to, Ink fill) {
    Mark& mark = add(MarkShape::Rectangle, {from, to});
    mark.fill = fill;
    return mark;
}

void Painter::outline(DrawingPoint from, DrawingPoint to, Ink ink, double strokeWidth) {
    Mark& mark = add(MarkShape::Rectangle, {from, to});
    mark.stroke = ink;
    mark.strokeWidth = px(strokeWidth);
}

void Painter::circle(DrawingPoint centre, double radius, std::optional<Ink> fill, Ink stroke) {
    Mark& mark = add(MarkShape::Circle, {centre});
    mark.radius = px(radius);
    mark.fill = fill;
    mark.stroke = stroke;
}

void Painter::diamond(DrawingPoint centre, double radius, std::optional<Ink> fill, Ink stroke) {
    Mark& mark = add(MarkShape::Diamond, {centre});
    mark.radius = px(radius);
    mark.fill = fill;
    mark.stroke = stroke;
}

void Painter::paperSquare(DrawingPoint centre) {
    const double half = px(4.0);
    paperFrame({centre.x - half, centre.y - half}, {centre.x + half, centre.y + half});
}

void Painter::paperFrame(DrawingPoint from, DrawingPoint to) {
    Mark& mark = add(MarkShape::Rectangle, {from, to});
    mark.stroke = Ink::Paper;
    mark.dashes = {px(2.0), px(1.5)};
}

void Painter::paperLine(DrawingPoint from, DrawingPoint to) {
    line({from, to}, Ink::Paper, 1.0, {4.0, 3.0});
}

void Painter::whisker(DrawingPoint low, DrawingPoint high, Ink ink) {
    const double half = px(4.0);
    line({low, high}, ink);
    const bool isUpright = std::abs(high.y - low.y) > std::abs(high.x - low.x);
    for (const DrawingPoint end : {low, high})
        line(isUpright ? std::vector<DrawingPoint>{{end.x - half, end.y}, {end.x + half, end.y}}
                       : std::vector<DrawingPoint>{{end.x, end.y - half}, {end.x, end.y + half}},
             ink);
}

void Painter::text(
    DrawingPoint at, std::string text, const TextStyle& style, Ink ink, TextAnchor anchor) {
    if (text.empty())
        return;
    Mark& mark = add(MarkShape::Text, {at});
    mark.text = std::move(text);
    mark.style = style;
    mark.fill = ink;
    mark.anchor = anchor;
}

void Painter::haloText(DrawingPoint at,
                       const std::string& words,
                       const TextStyle& style,
                       Ink ink,
                       TextAnchor anchor,
                       Ink ground) {
    const double width = textWidth(words, style);
    const double left = anchor == TextAnchor::Start    ? at.x
                        : anchor == TextAnchor::Middle ? at.x - width / 2.0
                                                       : at.x - width;
    rectangle({left - px(2.0), at.y - style.size * 0.86},
              {left + width + px(2.0), at.y + style.size * 0.2},
              ground);
    text(at, words, style, ink, anchor);
}

void Painter::turnedText(
    DrawingPoint at, const std::string& words, const TextStyle& style, Ink ink, double degrees) {
    Mark& mark = add(MarkShape::Text, {at});
    mark.text = words;
    mark.style = style;
    mark.fill = ink;
    mark.turn = degrees;
}

double drawLegend(Painter& painter, std::span<const LegendEntry> entries, double top) {
    if (entries.empty())
        return top;
    const TextStyle style = painter.small();
    const double line = painter.px(18.0);
    const double box = painter.px(28.0);
    const double gap = painter.px(14.0);
    // Lines are filled from the left and set to the right end.
    std::vector<std::vector<const LegendEntry*>> lines(1);
    double used = 0.0;
    const auto widthOf = [&](const LegendEntry& entry) {
        return box + painter.textWidth(entry.text, style) + gap;
    };
    for (const LegendEntry& entry : entries) {
        if (!lines.back().empty() && used + widthOf(entry) > painter.width()) {
            lines.emplace_back();
            used = 0.0;
        }
        lines.back().push_back(&entry);
        used += widthOf(entry);
    }
    double y = top;
    for (const auto& own : lines) {
        double x = painter.width() + gap - painter.px(2.0);
        for (const LegendEntry* entry : own)
            x -= widthOf(*entry);
        x = std::max(x, 0.0);
        for (const LegendEntry* entry : own) {
            entry->sample(painter, {x + box / 2.0 - painter.px(3.0), y + line / 2.0});
            painter.text({x + box, y + line / 2.0 + style.size * 0.35},
                         painter.fitted(entry->text, style, painter.width() - box),
                         style,
                         Ink::Muted);
            x += widthOf(*entry);
        }
        y += line;
    }
    return y + painter.px(4.0);
}

PanelGrid PanelGrid::of(std::size_t panels, double width, double least, double gap) {
    PanelGrid grid;
    const int count = std::max(static_cast<int>(panels), 1);
    const int most = std::clamp(static_cast<int>((width + gap) / (least + gap)), 1, count);
    grid.rows = (count + most - 1) / most;
    grid.columns = (count + grid.rows - 1) / grid.rows; // rows of about the same length
    grid.panelWidth = (width - gap * (grid.columns - 1)) / grid.columns;
    return grid;
}

} // namespace engine
