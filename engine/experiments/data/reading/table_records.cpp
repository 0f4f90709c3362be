// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/data/reading/table_records.h"

#include "engine/experiments/data/reading/bad_line.h"
#include "engine/experiments/data/reading/table_reader.h"
#include "engine/loading/files/readable_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace engine {

namespace {

constexpr std::size_t kColumnsNamed = 12;

/// The columns of a table by what they hold; none: there is no such column.
struct TableColumns {
    std::optional<std::size_t> prompt;
    std::optional<std::size_t> task;
    std::optional<std::size_t> id;
    std::optional<std::size_t> reference;
    std::optional<std::size_t> test;
    std::optional<std::size_t> entryPoint;
};

TableColumns columnsOf(const std::vector<std::string>& names, const DataLayout& layout) {
    const auto find = [&names](const std::string& name) -> std::optional<std::size_t> {
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end())
            return std::nullopt;
        return static_cast<std::size_t>(found - names.begin());
    };
    return {.prompt = find(layout.prompt),
            .task = layout.taskSource == TaskSource::Field ? find(layout.task) : std::nullopt,
            .id = find(layout.id),
            .reference = find(layout.reference),
            .test = find(layout.test),
            .entryPoint = find(layout.entryPoint)};
}

Error noPromptColumn(const std::filesystem::path& path,
                     const DataLayout& layout,
                     std::vector<std::string> names) {
    const std::string proposed = names.front();
    const bool isCut = names.size() > kColumnsNamed;
    names.resize(std::min(names.size(), kColumnsNamed));
    for (std::string& name : names)
        name = fmt::format("\"{}\"", readable(name, 40));
    return {ErrorCode::InvalidInput,
            fmt::format("{} has no column \"{}\"; its columns are {}{}",
                        path.string(),
                        readable(layout.prompt),
                        fmt::join(names, ", "),
                        isCut ? " and more" : ""),
            fmt::format("Name the column that holds the prompts, for example with --text-field "
                        "\"{}\".",
                        readable(proposed, 40))};
}

class TableRecords final : public RecordReader {
public:
    TableRecords(TableReader table, DataLayout layout, std::string fileTask)
        : m_table(std::move(table))
        , m_layout(std::move(layout))
        , m_fileTask(std::move(fileTask)) {}

    /// Reads the header. Errors: those of the table; InvalidInput without a column for the prompts.
    Result<void> begin() {
        ENGINE_TRY(std::optional<TableRow> row, m_table.next());
        if (!row)
            return {};
        if (!row->problem.empty())
            return Error{ErrorCode::InvalidInput,
                         fmt::format("{}: line {} decides which columns there are, but {}",
                                     m_table.lines().path().string(),
                                     row->line,
                                     row->problem),
                         "Correct this line."};
        m_names = columnNames(row->cells, m_layout);
        m_columns = columnsOf(m_names, m_layout);
        if (!m_columns.prompt)
            return noPromptColumn(m_table.lines().path(), m_layout, m_names);
        if (!m_layout.hasHeader)
            m_first = std::move(row);
        return {};
    }

    Result<std::optional<DataItem>> next() override {
        std::optional<TableRow> row = std::exchange(m_first, std::nullopt);
        if (!row) {
            ENGINE_TRY(row, m_table.next());
        }
        if (!row)
            return std::optional<DataItem>();
        return itemOf(read(*row), row->line);
    }

    std::uint64_t bytesRead() const override { return m_table.lines().place().offset; }

    bool hasField(std::string_view name) const override {
        return std::find(m_names.begin(), m_names.end(), name) != m_names.end();
    }

    std::string remark() const override {
        for (const std::string& used :
             {m_layout.prompt,
              m_layout.taskSource == TaskSource::Field ? m_layout.task : std::string(),
              m_layout.id,
              m_layout.reference,
              m_layout.test,
              m_layout.entryPoint})
            if (std::count(m_names.begin(), m_names.end(), used) > 1)
                return fmt::format("{} has several columns \"{}\"; the first of them is used.",
                                   m_table.lines().path().string(),
                                   readable(used));
        return {};
    }

private:
    Result<DataRecord> read(const TableRow& row) const {
        if (!row.problem.empty())
            return badLineError(row.line, row.problem);
        if (row.cells.size() != m_names.size())
            return badLineError(row.line,
                                fmt::format("it has {} {}, but the first line has {}",
                                            row.cells.size(),
                                            row.cells.size() == 1 ? "cell" : "cells",
                                            m_names.size()));
        const auto cell = [&row](const std::optional<std::size_t>& column) -> std::string {
            return column ? row.cells[*column] : std::string();
        };
        if (isBlankText(cell(m_columns.prompt)))
            return badLineError(
                row.line, fmt::format("the column \"{}\" is empty", readable(m_layout.prompt)));
        DataRecord record{.line = row.line,
                          .task = taskOfRecord(m_layout, m_fileTask, cell(m_columns.task)),
                          .id = cell(m_columns.id),
                          .turns = {cell(m_columns.prompt)},
                          .test = cell(m_columns.test),
                          .entryPoint = cell(m_columns.entryPoint)};
        if (isBlankText(record.id))
            record.id = fmt::format("{}", row.line);
        if (std::string reference = cell(m_columns.reference); !isBlankText(reference))
            record.references.push_back(std::move(reference));
        return record;
    }

    TableReader m_table;
    DataLayout m_layout;
    std::string m_fileTask;
    std::vector<std::string> m_names; // of the columns
    TableColumns m_columns;
    std::optional<TableRow> m_first; // without a header: read already
};

} // namespace

std::vector<std::string> columnNames(const std::vector<std::string>& row,
                                     const DataLayout& layout) {
    std::vector<std::string> names;
    for (const std::string& cell : row) {
        const bool isNamed = layout.hasHeader && !isBlankText(cell);
        names.push_back(isNamed ? std::string(trimmed(cell)) : fmt::format("{}", names.size() + 1));
    }
    return names;
}

Result<std::unique_ptr<RecordReader>> openTable(LineReader lines,
                                                const DataLayout& layout,
                                                const std::string& fileTask,
                                                const std::stop_token& stop) {
    char separator = layout.separator.value_or(',');
    if (!layout.separator) {
        ENGINE_TRY(separator, findSeparator(lines.path(), stop));
    }
    auto records =
        std::make_unique<TableRecords>(TableReader(std::move(lines), separator), layout, fileTask);
    ENGINE_TRY_DO(records->begin());
    return std::unique_ptr<RecordReader>(std::move(records));
}

} // namespace engine
