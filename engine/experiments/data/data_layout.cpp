// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/data/data_layout.h"

#include "engine/experiments/data/reading/bad_line.h"
#include "engine/experiments/data/reading/file_extension.h"
#include "engine/experiments/data/reading/json_record.h"
#include "engine/experiments/data/reading/table_reader.h"
#include "engine/experiments/data/reading/table_records.h"
#include "engine/loading/files/readable_text.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace engine {

namespace {

constexpr int kSampledRecords = 20;
constexpr std::size_t kLongestColumnName = 60; // bytes
constexpr std::size_t kShownBytes = 80;
constexpr std::size_t kMaxFields = 1000; // of JSON objects, which need not be alike

/// Names by which data sets call a field, the most telling one first; in small letters.
using FieldNames = std::span<const std::string_view>;
constexpr std::array<std::string_view, 8> kPromptNames = {
    "prompt", "turns", "question", "instruction", "query", "problem", "input", "text"};
constexpr std::array<std::string_view, 5> kTaskNames = {
    "task", "category", "subject", "domain", "task_name"};
constexpr std::array<std::string_view, 5> kIdNames = {
    "id", "task_id", "question_id", "uid", "uuid"};
constexpr std::array<std::string_view, 9> kReferenceNames = {"reference",
                                                             "references",
                                                             "answer",
                                                             "answers",
                                                             "output",
                                                             "target",
                                                             "response",
                                                             "summary",
                                                             "canonical_solution"};

std::string smallLetters(std::string text) {
    for (char& c : text)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
}

/// Collects the fields of the sampled records.
class FieldSample {
public:
    /// `texts` are those of its value; none if it is something else.
    void add(std::string_view name, const std::vector<std::string>& texts) {
        auto field = std::find_if(m_fields.begin(), m_fields.end(), [name](const DataField& each) {
            return each.name == name;
        });
        if (field == m_fields.end()) {
            if (m_fields.size() == kMaxFields)
                return;
            m_fields.push_back({.name = std::string(name)});
            field = m_fields.end() - 1;
        }
        field->isText = field->isText && !texts.empty();
        for (const std::string& text : texts)
            field->textBytes += static_cast<std::int64_t>(text.size());
        if (field->firstValue.empty() && !texts.empty())
            field->firstValue = readable(texts.front(), kShownBytes);
    }

    std::vector<DataField> take() { return std::move(m_fields); }

private:
    std::vector<DataField> m_fields;
};

Result<std::vector<DataField>> jsonFields(LineReader lines) {
    FieldSample sample;
    for (int i = 0; i < kSampledRecords; ++i) {
        ENGINE_TRY(const auto line, lines.next());
        if (!line)
            break;
        if (line->isTooLong || isBlankText(line->text))
            continue;
        const auto document = readJsonLine(*line);
        if (!document)
            continue;
        for (const auto& [name, value] : document.value().root().members())
            if (!value.isNull())
                sample.add(name, textsIn(value));
    }
    return sample.take();
}

Result<std::vector<DataField>> tableFields(TableReader table, const DataLayout& layout) {
    FieldSample sample;
    std::vector<std::string> names;
    for (int i = 0; i < kSampledRecords; ++i) {
        ENGINE_TRY(const auto row, table.next());
        if (!row)
            break;
        if (!row->problem.empty())
            continue;
        if (names.empty()) {
            names = columnNames(row->cells, layout);
            for (const std::string& name : names)
                sample.add(name, {std::string()});
            if (layout.hasHeader)
                continue;
        }
        for (std::size_t cell = 0; cell < std::min(names.size(), row->cells.size()); ++cell)
            sample.add(names[cell], {row->cells[cell]});
    }
    return sample.take();
}

/// Whether a row looks like names of columns: short, different, not empty and no numbers.
bool looksLikeHeader(const std::vector<std::string>& cells) {
    for (auto cell = cells.begin(); cell != cells.end(); ++cell) {
        const bool isNumber = cell->find_first_not_of("0123456789.,+-") == std::string::npos;
        if (isNumber || isBlankText(*cell) || cell->size() > kLongestColumnName ||
            std::find(cells.begin(), cell, *cell) != cell)
            return false;
    }
    return true;
}

/// Also of a table without rows.
Result<bool> seemsToHaveHeader(const std::filesystem::path& path, const std::stop_token& stop) {
    ENGINE_TRY(const char separator, findSeparator(path, stop));
    ENGINE_TRY(LineReader lines, LineReader::open(path, kMaxRowBytes, stop));
    TableReader table(std::move(lines), separator);
    ENGINE_TRY(const auto row, table.next());
    return !row || looksLikeHeader(row->cells);
}

/// The first of these names that a field with texts has; empty if none has one.
std::string fieldNamed(FieldNames names, const std::vector<DataField>& fields) {
    for (const std::string_view name : names)
        for (const DataField& field : fields)
            if (field.isText && smallLetters(field.name) == name)
                return field.name;
    return {};
}

} // namespace

DataFormat dataFormatOf(const std::filesystem::path& path) {
    const std::string extension = lowerExtension(path);
    if (extension == ".csv" || extension == ".tsv" || extension == ".tab")
        return DataFormat::Table;
    if (extension == ".txt")
        return DataFormat::Lines;
    if (extension == ".md" || extension == ".markdown")
        return DataFormat::Document;
    return DataFormat::JsonLines;
}

Result<std::vector<DataField>>
fieldsOf(const std::filesystem::path& path, const DataLayout& layout, const std::stop_token& stop) {
    const DataFormat format = dataFormatOf(path);
    ENGINE_TRY(LineReader lines, LineReader::open(path, kMaxRowBytes, stop));
    if (format == DataFormat::JsonLines)
        return jsonFields(std::move(lines));
    if (format != DataFormat::Table)
        return std::vector<DataField>();
    char separator = layout.separator.value_or(',');
    if (!layout.separator) {
        ENGINE_TRY(separator, findSeparator(path, stop));
    }
    return tableFields(TableReader(std::move(lines), separator), layout);
}

Result<DataLayout> proposeLayout(const std::filesystem::path& path,
                                 std::optional<bool> hasHeader,
                                 const std::stop_token& stop) {
    DataLayout layout;
    if (hasHeader) {
        layout.hasHeader = *hasHeader;
    } else if (dataFormatOf(path) == DataFormat::Table) {
        ENGINE_TRY(layout.hasHeader, seemsToHaveHeader(path, stop));
    }
    ENGINE_TRY(const std::vector<DataField> fields, fieldsOf(path, layout, stop));
    if (std::string prompt = fieldNamed(kPromptNames, fields); !prompt.empty()) {
        layout.prompt = std::move(prompt);
    } else {
        std::int64_t longest = 0;
        for (const DataField& field : fields)
            if (field.isText && field.textBytes > longest) {
                longest = field.textBytes;
                layout.prompt = field.name;
            }
    }
    const auto use = [&fields](FieldNames names, std::string& field) {
        if (std::string found = fieldNamed(names, fields); !found.empty())
            field = std::move(found);
    };
    use(kIdNames, layout.id);
    use(kReferenceNames, layout.reference);
    const std::string task = fieldNamed(kTaskNames, fields);
    layout.taskSource = task.empty() ? TaskSource::File : TaskSource::Field;
    if (!task.empty())
        layout.task = task;
    return layout;
}

} // namespace engine
