// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/writers/svg.h"

#include "engine/experiments/report/writers/escaped_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace engine {

namespace {

constexpr const char* kSans = "Inter, 'Noto Sans', system-ui, sans-serif";
constexpr const char* kMonospace = "'Noto Sans Mono', ui-monospace, monospace";

/// Writes the marks of a drawing.
class SvgWriter {
public:
    /// Without a palette the inks are variables of a style sheet.
    SvgWriter(const Drawing& drawing, const Palette* palette, std::string_view id)
        : m_drawing(drawing)
        , m_palette(palette)
        , m_id(id) {}

    std::string write() {
        for (const Mark& mark : m_drawing.marks)
            writeMark(mark);
        std::string text =
            fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                        "viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2}\">\n",
                        number(m_drawing.width),
                        number(m_drawing.height),
                        escapedXml(m_drawing.summary));
        text += fmt::format("<title>{}</title>\n", escapedXml(m_drawing.summary));
        if (!m_hatches.empty()) {
            text += "<defs>";
            for (const HatchKind hatch : m_hatches)
                text += pattern(hatch);
            text += "</defs>\n";
        }
        if (m_palette)
            text += fmt::format("<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
                                hexText(colourOf(*m_palette, Ink::Panel)));
        return text + m_body + "</svg>\n";
    }

private:
    static std::string number(double value) {
        std::string text = fmt::format("{:.2f}", value);
        while (text.back() == '0')
            text.pop_back();
        if (text.back() == '.')
            text.pop_back();
        return text == "-0" ? "0" : text;
    }

    std::string colour(Ink ink) const {
        return m_palette ? hexText(colourOf(*m_palette, ink))
                         : fmt::format("var(--{})", inkName(ink));
    }

    std::string hatchOpacity() const {
        return m_palette ? number(colourOf(*m_palette, Ink::Hatch).alpha)
                         : std::string("var(--ink-hatch-alpha)");
    }

    std::string hatchName(HatchKind hatch) const {
        return fmt::format("hatch-{}{}", m_id, static_cast<int>(hatch));
    }

    /// A pattern with a period of 6 pixels.
    std::string pattern(HatchKind hatch) const {
        const std::string begin =
            fmt::format("<pattern id=\"{}\" width=\"6\" height=\"6\" "
                        "patternUnits=\"userSpaceOnUse\"{}>",
                        hatchName(hatch),
                        hatch == HatchKind::Diagonal ? " patternTransform=\"rotate(45)\"" : "");
        std::string inside;
        const std::string fill =
            fmt::format("style=\"fill:{};fill-opacity:{}\"", colour(Ink::Hatch), hatchOpacity());
        if (hatch == HatchKind::Dots)
            inside = fmt::format("<circle cx=\"3\" cy=\"3\" r=\"1.3\" {}/>", fill);
        else if (hatch == HatchKind::Horizontal)
            inside = fmt::format("<rect y=\"2\" width=\"6\" height=\"1.6\" {}/>", fill);
        else
            inside = fmt::format("<rect x=\"2\" width=\"2\" height=\"6\" {}/>", fill);
        return begin + inside + "</pattern>";
    }

    /// Fill, line and dashes of a mark; in a page they are styles, because attributes know no
    /// variables.
    std::string paint(const Mark& mark) const {
        std::string text = fmt::format(" style=\"fill:{}", mark.fill ? colour(*mark.fill) : "none");
        if (mark.stroke) {
            text += fmt::format(
                ";stroke:{};stroke-width:{}", colour(*mark.stroke), number(mark.strokeWidth));
            if (!mark.dashes.empty()) {
                std::string dashes;
                for (const double dash : mark.dashes)
                    dashes += (dashes.empty() ? "" : " ") + number(dash);
                text += fmt::format(";stroke-dasharray:{}", dashes);
            }
        }
        return text + "\"";
    }

    void writeMark(const Mark& mark) {
        if (mark.points.empty())
            return;
        const DrawingPoint at = mark.points.front();
        switch (mark.shape) {
        case MarkShape::Line:
            writeLine(mark);
            break;
        case MarkShape::Rectangle:
            writeRectangle(mark);
            break;
        case MarkShape::Circle:
            m_body += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>\n",
                                  number(at.x),
                                  number(at.y),
                                  number(mark.radius),
                                  paint(mark));
            break;
        case MarkShape::Diamond:
            m_body += fmt::format("<path d=\"M{0} {1}L{2} {3}L{0} {4}L{5} {3}Z\"{6}/>\n",
                                  number(at.x),
                                  number(at.y - mark.radius),
                                  number(at.x + mark.radius),
                                  number(at.y),
                                  number(at.y + mark.radius),
                                  number(at.x - mark.radius),
                                  paint(mark));
            break;
        case MarkShape::Text:
            writeText(mark);
            break;
        }
    }

    void writeLine(const Mark& mark) {
        std::string path;
        for (const DrawingPoint& point : mark.points)
            path +=
                fmt::format("{}{} {}", path.empty() ? "M" : "L", number(point.x), number(point.y));
        m_body += fmt::format("<path d=\"{}\"{}/>\n", path, paint(mark));
    }

    void writeRectangle(const Mark& mark) {
        if (mark.points.size() < 2)
            return;
        const DrawingPoint a = mark.points[0];
        const DrawingPoint b = mark.points[1];
        const std::string box = fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
                                            number(std::min(a.x, b.x)),
                                            number(std::min(a.y, b.y)),
                                            number(std::abs(b.x - a.x)),
                                            number(std::abs(b.y - a.y)));
        m_body += box + paint(mark) + "/>\n";
        if (mark.hatch == HatchKind::None)
            return;
        m_hatches.insert(mark.hatch);
        m_body += fmt::format("{} fill=\"url(#{})\"/>\n", box, hatchName(mark.hatch));
    }

    void writeText(const Mark& mark) {
        const DrawingPoint at = mark.points.front();
        const char* const anchor = mark.anchor == TextAnchor::Start    ? "start"
                                   : mark.anchor == TextAnchor::Middle ? "middle"
                                                                       : "end";
        const std::string turn = mark.turn == 0.0 ? ""
                                                  : fmt::format(" transform=\"rotate({} {} {})\"",
                                                                number(mark.turn),
                                                                number(at.x),
                                                                number(at.y));
        m_body += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" font-family=\"{}\" "
                              "font-size=\"{}\"{}{} style=\"fill:{}\">{}</text>\n",
                              number(at.x),
                              number(at.y),
                              anchor,
                              mark.style.isMono ? kMonospace : kSans,
                              number(mark.style.size),
                              mark.style.isBold ? " font-weight=\"600\"" : "",
                              turn,
                              colour(mark.fill.value_or(Ink::Text)),
                              escapedXml(mark.text));
    }

    const Drawing& m_drawing;
    const Palette* m_palette;
    std::string m_id;
    std::string m_body;
    std::set<HatchKind> m_hatches;
};

} // namespace

std::string svgDocument(const Drawing& drawing, const Palette& palette) {
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
           SvgWriter(drawing, &palette, "").write();
}

std::string svgElement(const Drawing& drawing, std::string_view id) {
    return SvgWriter(drawing, nullptr, id).write();
}

std::string inkStyles(const Palette& palette) {
    std::string text;
    for (int i = 0; i < kInkCount; ++i) {
        const Ink ink = static_cast<Ink>(i);
        text += fmt::format("--{}:{};", inkName(ink), hexText(colourOf(palette, ink)));
    }
    return text + fmt::format("--ink-hatch-alpha:{}", colourOf(palette, Ink::Hatch).alpha);
}

} // namespace engine
