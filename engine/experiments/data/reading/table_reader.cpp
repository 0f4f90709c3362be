// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/data/reading/table_reader.h"

#include "engine/experiments/data/reading/file_extension.h"
#include "engine/text/vocabulary/utf8.h"

#include <tuple>

namespace engine {

namespace {

constexpr std::size_t kMaxColumns = 10'000;
constexpr int kRowsForSeparator = 20;
constexpr std::string_view kSeparators = ",;\t|";

/// Takes a row apart, line by line.
class RowParser {
public:
    enum class State { Complete, InQuotes, WrongQuote, TooManyCells };

    explicit RowParser(char separator)
        : m_separator(separator)
        , m_cells(1) {}

    /// The state behind this line. The row goes on in the next line only if it is InQuotes.
    State add(std::string_view line) {
        if (m_isQuoted)
            m_cells.back() += '\n';
        m_rest = line;
        while (m_cells.size() <= kMaxColumns) {
            if (!m_isQuoted && m_rest.starts_with('"')) {
                m_isQuoted = true;
                m_rest.remove_prefix(1);
            }
            if (m_isQuoted && !takeQuoted())
                return State::InQuotes;
            if (m_wasQuoted && !m_rest.empty() && m_rest.front() != m_separator)
                return State::WrongQuote;
            if (!takePlain())
                return State::Complete;
        }
        return State::TooManyCells;
    }

    std::vector<std::string> takeCells() { return std::move(m_cells); }

private:
    /// Takes a quoted cell with its last quote; false if the line ends before that.
    bool takeQuoted() {
        for (;;) {
            const std::size_t quote = m_rest.find('"');
            m_cells.back() += m_rest.substr(0, quote);
            if (quote == std::string_view::npos)
                return false;
            m_rest.remove_prefix(quote + 1);
            if (!m_rest.starts_with('"'))
                break;
            m_cells.back() += '"';
            m_rest.remove_prefix(1);
        }
        m_isQuoted = false;
        m_wasQuoted = true;
        return true;
    }

    /// Takes the rest of a cell and the separator behind it; false if it is the last one.
    bool takePlain() {
        const std::size_t end = m_rest.find(m_separator);
        m_cells.back() += m_rest.substr(0, end);
        m_wasQuoted = false;
        if (end == std::string_view::npos)
            return false;
        m_rest.remove_prefix(end + 1);
        m_cells.emplace_back();
        return true;
    }

    char m_separator;
    std::vector<std::string> m_cells; // of the row so far; the last one may not be complete
    std::string_view m_rest;          // of the line
    bool m_isQuoted = false;          // inside quotes
    bool m_wasQuoted = false;         // just behind the last quote of a cell
};

bool isBlankLine(const TextLine& line) {
    return !line.isTooLong && line.text.find_first_not_of(" \t\f\v") == std::string_view::npos;
}

struct Rated {
    char separator = ',';
    int rows = 0; ///< with as many cells as the header
    std::size_t columns = 0;
};

Result<Rated> rate(char separator, const std::filesystem::path& path, const std::stop_token& stop) {
    ENGINE_TRY(LineReader lines, LineReader::open(path, kMaxRowBytes, stop));
    TableReader table(std::move(lines), separator);
    Rated rated{.separator = separator};
    for (int i = 0; i < kRowsForSeparator; ++i) {
        ENGINE_TRY(const auto row, table.next());
        if (!row)
            break;
        if (rated.columns == 0)
            rated.columns = row->cells.size();
        rated.rows += row->cells.size() == rated.columns ? 1 : 0;
    }
    return rated;
}

} // namespace

Result<std::optional<TableRow>> TableReader::next() {
    for (;;) {
        ENGINE_TRY(const auto line, m_lines.next());
        if (!line)
            return std::optional<TableRow>();
        if (isBlankLine(*line))
            continue;
        ENGINE_TRY(TableRow row, readRow(*line));
        return std::optional(std::move(row));
    }
}

Result<TableRow> TableReader::readRow(const TextLine& first) {
    TableRow row{.line = first.number, .cells = {}};
    const LineReader::Place behindFirst = m_lines.place();
    const auto giveUp = [&](std::string problem) {
        row.problem = std::move(problem);
        m_lines.goBack(behindFirst);
        return row;
    };
    // Where in a row of several lines something is.
    const auto inLine = [&first](std::int64_t number) {
        return number == first.number ? std::string() : fmt::format("line {}, ", number);
    };
    RowParser parser(m_separator);
    std::size_t bytes = 0;
    std::optional<std::string> encoding;
    for (std::optional<TextLine> line = first; line;) {
        bytes += line->text.size() + 1;
        if (line->isTooLong || bytes > kMaxRowBytes + 1)
            return giveUp(fmt::format("it has more than {} bytes", kMaxRowBytes));
        if (const auto wrong = utf8::findInvalid(line->text); wrong && !encoding)
            encoding =
                fmt::format("it is not valid UTF-8 ({}byte {})", inLine(line->number), *wrong);
        switch (parser.add(line->text)) {
        case RowParser::State::Complete:
            row.cells = parser.takeCells();
            row.problem = encoding.value_or("");
            if (encoding)
                row.cells.clear();
            return row;
        case RowParser::State::WrongQuote:
            return giveUp(fmt::format("a quote ends a cell, but no separator follows ({}a quote "
                                      "inside quotes is written twice)",
                                      inLine(line->number)));
        case RowParser::State::TooManyCells:
            return giveUp(fmt::format("it has more than {} cells", kMaxColumns));
        case RowParser::State::InQuotes:
            break;
        }
        ENGINE_TRY(line, m_lines.next());
    }
    return giveUp("a quote opens in it that is never closed");
}

Result<char> findSeparator(const std::filesystem::path& path, const std::stop_token& stop) {
    const std::string extension = lowerExtension(path);
    if (extension == ".tsv" || extension == ".tab")
        return '\t';
    Rated best;
    for (const char separator : kSeparators) {
        ENGINE_TRY(const Rated rated, rate(separator, path, stop));
        if (rated.columns > 1 &&
            std::tie(rated.rows, rated.columns) > std::tie(best.rows, best.columns))
            best = rated;
    }
    return best.separator;
}

} // namespace engine
