// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/data_stream.h"

#include "engine/loading/files/readable_text.h"
#include "engine/text/vocabulary/utf8.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

constexpr std::size_t kMaxLineBytes = 16'000'000;
constexpr JsonLimits kLimits = {.maxBytes = kMaxLineBytes, .maxDepth = 64, .maxNodes = 1'000'000};

bool isBlank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

Error badLine(const std::string& where, std::string_view problem) {
    return {ErrorCode::CorruptFile, fmt::format("{}: {}", where, problem), ""};
}

bool isTextFile(const std::filesystem::path& path) {
    std::string extension = path.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return extension == ".txt";
}

/// The record's own id, if it has a readable one.
std::string idOf(const JsonValue& value, std::int64_t line) {
    if (const auto text = value.asString())
        return std::string(*text);
    return fmt::format("{}", value.asInteger().value_or(line));
}

/// A text, or a list of nothing but texts; none for anything else.
std::vector<std::string> textsIn(const JsonValue& value) {
    std::vector<std::string> texts;
    const std::vector<JsonValue> items =
        value.isArray() ? value.items() : std::vector<JsonValue>{value};
    for (const JsonValue& item : items) {
        const auto text = item.asString();
        if (!text)
            return {};
        texts.emplace_back(*text);
    }
    return texts;
}

} // namespace

DataStream::DataStream(LineReader lines,
                       const std::filesystem::path& path,
                       const DataStreamOptions& options)
    : m_lines(std::move(lines))
    , m_options(options)
    , m_fileTask(path.stem().string())
    , m_isPlainText(isTextFile(path)) {}

Result<DataStream> DataStream::open(const std::filesystem::path& path,
                                    const DataStreamOptions& options) {
    if (options.limit.value_or(0) < 0)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("the limit of records is {}", *options.limit),
                     "Give 0 or more, or leave it out to read all."};
    ENGINE_TRY(LineReader lines, LineReader::open(path, kMaxLineBytes));
    return DataStream(std::move(lines), path, options);
}

Result<std::optional<DataItem>> DataStream::next() {
    while (!m_options.limit || m_recordCount < *m_options.limit) {
        ENGINE_TRY(const std::optional<TextLine> line, m_lines.next());
        if (!line)
            break;
        if (isBlank(line->text) && !line->isTooLong)
            continue;
        Result<DataRecord> record = readLine(*line);
        if (!record)
            return std::optional<DataItem>(BadLine{line->number, record.error().message});
        if (m_options.onlyTask && record.value().task != *m_options.onlyTask)
            continue;
        ++m_recordCount;
        return std::optional<DataItem>(std::move(record).value());
    }
    return std::optional<DataItem>();
}

Result<DataRecord> DataStream::readLine(const TextLine& line) const {
    const std::string where = fmt::format("line {}", line.number);
    if (line.isTooLong)
        return badLine(where, fmt::format("it has more than {} bytes", kMaxLineBytes));
    if (const auto wrong = utf8::findInvalid(line.text))
        return badLine(where, fmt::format("it is not valid UTF-8 (byte {})", *wrong));
    if (!m_isPlainText)
        return readJsonRecord(line);
    return DataRecord{.line = line.number,
                      .task = m_fileTask,
                      .id = fmt::format("{}", line.number),
                      .turns = {std::string(line.text)}};
}

Result<DataRecord> DataStream::readJsonRecord(const TextLine& line) const {
    const std::string where = fmt::format("line {}", line.number);
    ENGINE_TRY(const JsonDocument document, JsonDocument::parse(line.text, where, kLimits));
    const JsonValue root = document.root();
    if (!root.isObject())
        return badLine(where, "it is JSON, but not an object");
    DataRecord record;
    record.line = line.number;
    record.id = idOf(root["id"], line.number);
    const JsonValue task = root[m_options.taskField];
    if (!task.isNull() && !task.isString())
        return badLine(where,
                       fmt::format("the field \"{}\" is not a text (byte {})",
                                   readable(m_options.taskField),
                                   task.offset()));
    record.task = task.asString().value_or(m_fileTask);
    ENGINE_TRY(record.turns, readTurns(root[m_options.textField], where));
    record.references = textsIn(root["reference"]);
    record.test = root["test"].asString().value_or(std::string_view());
    record.entryPoint = root["entry_point"].asString().value_or(std::string_view());
    return record;
}

Result<std::vector<std::string>> DataStream::readTurns(const JsonValue& value,
                                                       const std::string& where) const {
    const std::string field = fmt::format("the field \"{}\"", readable(m_options.textField));
    if (value.isNull())
        return badLine(where, field + " is missing");
    if (!value.isString() && !value.isArray())
        return badLine(where,
                       fmt::format("{} is neither a text nor a list of texts (byte {})",
                                   field,
                                   value.offset()));
    const std::vector<JsonValue> items =
        value.isArray() ? value.items() : std::vector<JsonValue>{value};
    std::vector<std::string> turns;
    for (const JsonValue& item : items) {
        const auto text = item.asString();
        if (!text)
            return badLine(
                where,
                fmt::format("{} holds an item that is not a text (byte {})", field, item.offset()));
        if (isBlank(*text))
            return badLine(where,
                           fmt::format("{} holds an empty text (byte {})", field, item.offset()));
        turns.emplace_back(*text);
    }
    if (turns.empty())
        return badLine(where, fmt::format("{} is an empty list (byte {})", field, value.offset()));
    return turns;
}

} // namespace engine
