// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/data/reading/line_reader.h"

#include <string>
#include <vector>

namespace engine {

/// A row and a line have at most this many bytes.
inline constexpr std::size_t kMaxRowBytes = 16'000'000;

/// One row of a table.
struct TableRow {
    std::int64_t line = 0; ///< in which it begins, counted from 1
    std::vector<std::string> cells;
    std::string problem = {}; ///< why it has no cells, without the line; empty = it has some
};

/// Reads the rows of a table as RFC 4180 has them: cells between separators; a cell in double
/// quotes may hold separators, line ends (each becomes one LF) and quotes, which are written twice.
/// A quote behind the beginning of a cell without quotes is a character like any other. Empty lines
/// between rows are skipped. After a row with a wrong quote, reading goes on in the line behind its
/// first one. One row is in memory. Thread: one.
class TableReader {
public:
    /// `lines` was opened with kMaxRowBytes.
    TableReader(LineReader lines, char separator)
        : m_lines(std::move(lines))
        , m_separator(separator) {}

    /// The next row; nothing at the end. Errors: those of LineReader.
    Result<std::optional<TableRow>> next();

    const LineReader& lines() const { return m_lines; }

private:
    Result<TableRow> readRow(const TextLine& first);

    LineReader m_lines;
    char m_separator;
};

/// The separator of a table's cells: of comma, semicolon, tab and | the one that gives most of the
/// first rows as many cells as the header has, and at least two; comma if there is none. Always tab
/// for .tsv and .tab. Errors: those of LineReader.
Result<char> findSeparator(const std::filesystem::path& path, const std::stop_token& stop = {});

} // namespace engine
