// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/figures/draw_figure.h"
#include "engine/experiments/report/film/set_film.h"
#include "engine/experiments/report/write_report.h"
#include "engine/experiments/report/writers/escaped_text.h"
#include "engine/experiments/report/writers/report_style.h"
#include "engine/experiments/report/writers/svg.h"

#include <fmt/format.h>

namespace engine {

namespace {

constexpr double kFigureWidth = 912.0;
constexpr std::size_t kMostOpenRows = 60;

std::string paragraph(std::string_view text, std::string_view kind = {}) {
    if (text.empty())
        return {};
    return kind.empty() ? fmt::format("<p>{}</p>\n", escapedXml(text))
                        : fmt::format("<p class=\"{}\">{}</p>\n", kind, escapedXml(text));
}

/// The words for a reader who does not see the mark and the colour of the band.
const char* kindWord(VerdictKind kind) {
    switch (kind) {
    case VerdictKind::Gain:
        return "Gain";
    case VerdictKind::NoGain:
        return "No gain";
    case VerdictKind::Finding:
        return "Finding";
    case VerdictKind::Refused:
        return "Not measured";
    }
    return "";
}

std::string verdictHtml(const ExperimentVerdict& verdict) {
    const bool isGain = verdict.kind == VerdictKind::Gain;
    const bool isQuiet = verdict.kind == VerdictKind::Finding;
    return fmt::format("<section class=\"verdict {}\"><span class=\"mark\" role=\"img\" "
                       "aria-label=\"{}\">{}</span><p><strong>{}</strong> {}</p></section>\n",
                       isGain    ? "gain"
                       : isQuiet ? "finding"
                                 : "nogain",
                       kindWord(verdict.kind),
                       isGain ? "✓" : "i",
                       escapedXml(verdict.headline),
                       escapedXml(verdict.cause));
}

std::string tableHtml(const ResultTable& table) {
    std::string text = "<div class=\"wide\"><table><thead><tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        text += fmt::format("<th scope=\"col\"{}>{}</th>",
                            hasValues(table, i) ? " class=\"n\"" : "",
                            escapedXml(table.columns[i]));
    text += "</tr></thead><tbody>\n";
    std::string head; // of the row before: the same once more is set back
    for (const auto& row : table.rows) {
        text += "<tr>";
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string cell = escapedXml(row[i].text);
            if (i == 0)
                text += fmt::format(
                    "<th scope=\"row\"{}>{}</th>", cell == head ? " class=\"again\"" : "", cell);
            else
                text +=
                    fmt::format("<td{}>{}</td>", hasValues(table, i) ? " class=\"n\"" : "", cell);
        }
        text += "</tr>\n";
        head = row.empty() ? std::string() : escapedXml(row[0].text);
    }
    return text + "</tbody></table></div>\n";
}

/// A long table is folded, so that what follows it is found.
std::string foldedTable(const ResultTable& table) {
    if (table.rows.size() <= kMostOpenRows)
        return tableHtml(table);
    return fmt::format("<details><summary>All {} rows</summary>\n{}</details>\n",
                       table.rows.size(),
                       tableHtml(table));
}

/// The film of a figure, if it is one, with a box that stops it; below it stand its pictures.
std::string filmHtml(const ResultFigure& figure, std::size_t index) {
    if (!isFilm(figure))
        return {};
    const std::vector<Drawing> frames = filmFrames(figure, {.width = kFigureWidth});
    const FilmPace pace{filmFrameMs(frames.size()), kFilmEndMs};
    return fmt::format("<input type=\"checkbox\" class=\"pause\" id=\"f{0}-pause\"/>"
                       "<label for=\"f{0}-pause\">Pause the film</label>\n"
                       "<div class=\"wide\">{1}</div>\n",
                       index,
                       filmSvgElement(frames, pace, fmt::format("f{}-film-", index)));
}

std::string figureHtml(const ResultFigure& figure, std::size_t index) {
    const Drawing drawing = drawFigure(figure, {.width = kFigureWidth});
    return fmt::format("<section><h2>{}</h2>\n{}{}<div class=\"wide\">{}</div>\n"
                       "<details><summary>The same as a table</summary>\n{}</details></section>\n",
                       escapedXml(figure.title),
                       paragraph(figure.note, "note"),
                       filmHtml(figure, index),
                       svgElement(drawing, fmt::format("f{}-", index)),
                       tableHtml(figureTable(figure)));
}

std::string factsHtml(const std::vector<std::pair<std::string, std::string>>& facts) {
    std::string text = "<dl>\n";
    for (const auto& [name, value] : facts)
        text +=
            fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escapedXml(name), escapedXml(value));
    return text + "</dl>\n";
}

/// Tokens of one beat touch; those of the draft are underlined, the full model's own carry a dot.
std::string originHtml(const OriginText& origin) {
    std::string text = fmt::format("<h3>{}</h3>\n<p class=\"tokens\">", escapedXml(origin.title));
    for (const OriginText::Token& token : origin.tokens) {
        const char* const kind = token.rank == 1 ? "first" : token.rank > 1 ? "other" : "own";
        text += fmt::format("<span class=\"{}\">{}</span>", kind, escapedXml(token.text));
        if (token.rank > 1)
            text += fmt::format("<sub>k{}</sub>", token.rank);
    }
    return text + "</p>\n";
}

std::string originsHtml(const std::vector<OriginText>& origins) {
    if (origins.empty())
        return {};
    std::string text =
        "<section><h2>Where the tokens come from</h2>\n<p class=\"note\">"
        "<span class=\"first\">Drafted and confirmed</span>, <span class=\"other\">another choice "
        "of "
        "the draft</span> (k2 is its second), <span class=\"own\">written by the full model</span>."
        "</p>\n";
    for (const OriginText& origin : origins)
        text += originHtml(origin);
    return text + "</section>\n";
}

} // namespace

std::string reportHtml(const ExperimentResult& result, const std::string& configuration) {
    const std::string subtitle =
        fmt::format("{}{}{}", result.source, result.source.empty() ? "" : " · ", result.size);
    std::string text = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<meta name=\"generator\" content=\"SWIFT Studio\"/>\n<title>{}</title>\n"
        "<style>\n:root{{color-scheme:light dark;{}}}\n"
        "@media (prefers-color-scheme:dark){{:root{{{}}}}}\n{}</style>\n</head>\n<body>\n<main>\n",
        escapedXml(result.title),
        inkStyles(lightPalette()),
        inkStyles(darkPalette()),
        reportStyle());
    text += fmt::format("<header><h1>{}</h1><p class=\"note\">{}</p></header>\n",
                        escapedXml(result.title),
                        escapedXml(subtitle));
    text += verdictHtml(result.verdict);
    if (!result.isComplete)
        text += paragraph("This run is not finished: the numbers are those so far.", "open");
    for (std::size_t i = 0; i < result.figures.size(); ++i)
        text += figureHtml(result.figures[i], i);
    for (const ResultTable& table : result.tables)
        text += fmt::format("<section><h2>{}</h2>\n{}{}</section>\n",
                            escapedXml(table.title),
                            foldedTable(table),
                            paragraph(table.note, "note"));
    text += originsHtml(result.origins);
    text += "<section><h2>How it was measured</h2>\n" + factsHtml(result.measured);
    if (!result.notes.empty()) {
        text += "<h3>Notes</h3>\n<ul>\n";
        for (const std::string& note : result.notes)
            text += fmt::format("<li>{}</li>\n", escapedXml(note));
        text += "</ul>\n";
    }
    text += "</section>\n";
    if (!configuration.empty())
        text += fmt::format("<section><h2>Configuration</h2>\n<details><summary>The recipe as it "
                            "ran</summary>\n<pre>{}</pre></details></section>\n",
                            escapedXml(configuration));
    return text + "</main>\n</body>\n</html>\n";
}

} // namespace engine
