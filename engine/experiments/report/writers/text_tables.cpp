// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/figures/draw_figure.h"
#include "engine/experiments/report/film/set_film.h"
#include "engine/experiments/report/write_report.h"
#include "engine/experiments/report/writers/escaped_text.h"

#include <fmt/ranges.h>

#include <algorithm>

// Tables and tokens as text: Markdown, CSV and LaTeX.

namespace engine {

bool hasValues(const ResultTable& table, std::size_t column) {
    return std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
        return column < row.size() && row[column].value.has_value();
    });
}

namespace {

bool hasIntervals(const ResultTable& table, std::size_t column) {
    return std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
        return column < row.size() && row[column].value && row[column].value->low;
    });
}

bool hasCounts(const ResultTable& table, std::size_t column) {
    return std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
        return column < row.size() && row[column].value && row[column].value->count > 0;
    });
}

std::string tableMarkdown(const ResultTable& table) {
    std::string text = "|";
    for (const std::string& column : table.columns)
        text += fmt::format(" {} |", escapedMarkdown(column));
    text += "\n|";
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        text += hasValues(table, i) ? " ---: |" : " --- |";
    text += "\n";
    for (const auto& row : table.rows) {
        text += "|";
        for (const ResultCell& cell : row)
            text += fmt::format(" {} |", escapedMarkdown(cell.text));
        text += "\n";
    }
    return text + "\n";
}

std::string digits(const std::optional<double>& value) {
    return value ? fmt::to_string(*value) : std::string();
}

/// A code block with a longer fence than any run of backticks inside.
std::string codeBlock(const std::string& text) {
    std::size_t longest = 2;
    std::size_t run = 0;
    for (const char letter : text) {
        run = letter == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    const std::string fence(longest + 1, '`');
    return fmt::format("{}json\n{}\n{}\n", fence, text, fence);
}

} // namespace

std::string reportMarkdown(const ExperimentResult& result, const std::string& configuration) {
    std::string text = fmt::format("# {}\n\n", escapedMarkdown(result.title));
    if (!result.source.empty())
        text += fmt::format(
            "{}, size: {}\n\n", escapedMarkdown(result.source), escapedMarkdown(result.size));
    text += fmt::format("> **{}** {}\n\n",
                        escapedMarkdown(result.verdict.headline),
                        escapedMarkdown(result.verdict.cause));
    if (!result.isComplete)
        text += "*This run is not finished: the numbers are those so far.*\n\n";
    for (const ResultFigure& figure : result.figures)
        text += fmt::format("## {}\n\n![{}](figures/{}.svg)\n\n{}{}{}",
                            escapedMarkdown(figure.title),
                            escapedMarkdown(figure.title),
                            figure.id,
                            isFilm(figure)
                                ? fmt::format("[As a film](figures/{}.film.svg)\n\n", figure.id)
                                : std::string(),
                            escapedMarkdown(figure.note),
                            figure.note.empty() ? "" : "\n\n");
    for (const ResultTable& table : result.tables)
        text += fmt::format("## {}\n\n{}{}{}",
                            escapedMarkdown(table.title),
                            tableMarkdown(table),
                            escapedMarkdown(table.note),
                            table.note.empty() ? "" : "\n\n");
    for (const OriginText& origin : result.origins) {
        text += fmt::format("## {}\n\nDrafted tokens are bold.\n\n", escapedMarkdown(origin.title));
        for (const OriginText::Token& token : origin.tokens)
            text += token.rank > 0 ? fmt::format("<b>{}</b>", escapedMarkdown(token.text))
                                   : escapedMarkdown(token.text);
        text += "\n\n";
    }
    text += "## How it was measured\n\n";
    for (const auto& [name, value] : result.measured)
        text += fmt::format("- {}: {}\n", escapedMarkdown(name), escapedMarkdown(value));
    for (const std::string& note : result.notes)
        text += fmt::format("- {}\n", escapedMarkdown(note));
    if (!configuration.empty())
        text += "\n## Configuration\n\n" + codeBlock(configuration);
    return text;
}

std::string tableCsv(const ResultTable& table) {
    std::vector<std::string> head;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        head.push_back(csvField(table.columns[i]));
        if (hasIntervals(table, i)) {
            head.push_back(csvField(table.columns[i] + ", low"));
            head.push_back(csvField(table.columns[i] + ", high"));
        }
        if (hasCounts(table, i))
            head.push_back(csvField(table.columns[i] + ", n"));
    }
    std::string text = fmt::format("{}\r\n", fmt::join(head, ","));
    for (const auto& row : table.rows) {
        std::vector<std::string> cells;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::optional<Estimate>& value = row[i].value;
            const bool isEmpty = !value && hasValues(table, i);
            cells.push_back(value     ? fmt::to_string(value->value)
                            : isEmpty ? std::string()
                                      : csvField(row[i].text));
            if (hasIntervals(table, i)) {
                cells.push_back(value ? digits(value->low) : "");
                cells.push_back(value ? digits(value->high) : "");
            }
            if (hasCounts(table, i))
                cells.push_back(value && value->count > 0 ? fmt::to_string(value->count) : "");
        }
        text += fmt::format("{}\r\n", fmt::join(cells, ","));
    }
    return text;
}

std::string tableLatex(const ResultTable& table) {
    std::string text = "% needs \\usepackage{booktabs}\n\\begin{tabular}{";
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        text += hasValues(table, i) ? "r" : "l";
    const auto line = [](const auto& cells, const auto& textOf) {
        std::vector<std::string> made;
        for (const auto& cell : cells)
            made.push_back(escapedLatex(textOf(cell)));
        return fmt::format("{} \\\\\n", fmt::join(made, " & "));
    };
    text += "}\n\\toprule\n" + line(table.columns, [](const std::string& name) { return name; }) +
            "\\midrule\n";
    for (const auto& row : table.rows)
        text += line(row, [](const ResultCell& cell) { return cell.text; });
    return text + "\\bottomrule\n\\end{tabular}\n";
}

std::string originsLatex(const std::vector<OriginText>& origins) {
    std::string text =
        "% Underlined: drafted and confirmed; with a number: the draft's second or a "
        "later choice; plain: written by the full model.\n";
    for (const OriginText& origin : origins) {
        text += fmt::format("\\paragraph{{{}}}\n", escapedLatex(origin.title));
        for (const OriginText::Token& token : origin.tokens) {
            std::string line = token.text;
            const auto ends = std::erase(line, '\n');
            const std::string shown = escapedLatex(line);
            text +=
                token.rank > 0 && !shown.empty() ? fmt::format("\\underline{{{}}}", shown) : shown;
            if (token.rank > 1)
                text += fmt::format("$_{{{}}}$", token.rank);
            text += ends > 0 ? "\\par\n" : "\\allowbreak{}";
        }
        text += "\n\n";
    }
    return text;
}

} // namespace engine
