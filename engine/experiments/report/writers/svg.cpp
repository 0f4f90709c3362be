// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/writers/svg.h"

#include "engine/experiments/report/writers/escaped_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

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
        return document({});
    }

    /// The drawing is the last one of the frames. What all have in common is written once.
    std::string writeFilm(std::span<const Drawing> frames, FilmPace pace) {
        if (frames.size() < 2)
            return write();
        const std::vector<bool> isCommon = commonMarks(frames);
        for (std::size_t i = 0; i < isCommon.size(); ++i) {
            if (isCommon[i])
                writeMark(m_drawing.marks[i]);
        }
        const double each = pace.frameMs / 1e3;
        const double whole = each * static_cast<double>(frames.size() - 1) + pace.endMs / 1e3;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            m_body += fmt::format("<g class=\"{0}c{1}\" style=\"animation-delay:{2:.3f}s\">\n",
                                  m_id,
                                  i + 1 < frames.size() ? "" : fmt::format(" {}l", m_id),
                                  each * static_cast<double>(i) - whole);
            writeChanging(frames[i], isCommon);
            m_body += "</g>\n";
        }
        return document(filmStyles(each, pace.endMs / 1e3, whole));
    }

private:
    /// Which of the last frame's marks every frame has at the same place.
    std::vector<bool> commonMarks(std::span<const Drawing> frames) const {
        std::vector<bool> isCommon(m_drawing.marks.size(), true);
        for (const Drawing& frame : frames) {
            if (frame.marks.size() != isCommon.size())
                return {};
            for (std::size_t i = 0; i < isCommon.size(); ++i)
                isCommon[i] = isCommon[i] && frame.marks[i] == m_drawing.marks[i];
        }
        return isCommon;
    }

    /// Rectangles of one look become one path, so that a film of many sets stays small.
    void writeChanging(const Drawing& frame, const std::vector<bool>& isCommon) {
        std::map<std::pair<Ink, HatchKind>, std::string> paths;
        for (std::size_t i = 0; i < frame.marks.size(); ++i) {
            const Mark& mark = frame.marks[i];
            if (i < isCommon.size() && isCommon[i])
                continue;
            if (mark.shape != MarkShape::Rectangle || mark.points.size() < 2 || !mark.fill ||
                mark.stroke) {
                writeMark(mark);
                continue;
            }
            const DrawingPoint a = mark.points[0];
            const DrawingPoint b = mark.points[1];
            paths[{*mark.fill, mark.hatch}] += fmt::format(
                "M{0} {1}H{2}V{3}H{0}Z", number(a.x), number(a.y), number(b.x), number(b.y));
        }
        for (const auto& [look, path] : paths) {
            m_body += fmt::format("<path d=\"{}\" style=\"fill:{}\"/>\n", path, colour(look.first));
            if (look.second == HatchKind::None)
                continue;
            m_hatches.insert(look.second);
            m_body +=
                fmt::format("<path d=\"{}\" fill=\"url(#{})\"/>\n", path, hatchName(look.second));
        }
    }

    /// Every frame goes through one cycle, each begun a frame later than the one before. None waits
    /// for its first: what is said without an animation is then never seen with one.
    std::string filmStyles(double each, double last, double whole) const {
        const auto cycle = [&](char name, double seconds) {
            return fmt::format(
                "@keyframes {}{}{{0%{{visibility:visible}}{:.5f}%{{visibility:hidden}}"
                "100%{{visibility:hidden}}}}\n",
                m_id,
                name,
                100.0 * seconds / whole);
        };
        return fmt::format(
            "<style>\n.{0}c{{visibility:hidden;animation:{0}k {1:.3f}s step-end infinite}}\n"
            ".{0}l{{visibility:visible;animation-name:{0}e}}\n{2}{3}"
            "svg:hover .{0}c{{animation-play-state:paused}}\n"
            "@media (prefers-reduced-motion:reduce){{.{0}c{{animation:none}}}}\n"
            "@media print{{.{0}c{{animation:none}}}}\n</style>\n",
            m_id,
            whole,
            cycle('k', each),
            cycle('e', last));
    }

    /// What was written so far, with its frame.
    std::string document(const std::string& styles) const {
        std::string text =
            fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                        "viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2}\">\n",
                        number(m_drawing.width),
                        number(m_drawing.height),
                        escapedXml(m_drawing.summary));
        text += fmt::format("<title>{}</title>\n", escapedXml(m_drawing.summary));
        text += styles;
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

std::string
filmSvgDocument(std::span<const Drawing> frames, FilmPace pace, const Palette& palette) {
    if (frames.empty())
        return svgDocument({}, palette);
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
           SvgWriter(frames.back(), &palette, "").writeFilm(frames, pace);
}

std::string filmSvgElement(std::span<const Drawing> frames, FilmPace pace, std::string_view id) {
    return frames.empty() ? svgElement({}, id)
                          : SvgWriter(frames.back(), nullptr, id).writeFilm(frames, pace);
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
