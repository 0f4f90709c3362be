// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/data/reading/record_reader.h"

#include "engine/experiments/data/reading/bad_line.h"
#include "engine/experiments/data/reading/json_record.h"
#include "engine/experiments/data/reading/table_reader.h"
#include "engine/experiments/data/reading/table_records.h"
#include "engine/text/vocabulary/utf8.h"

#include <utility>

namespace engine {

namespace {

Result<void> checkLine(const TextLine& line) {
    if (line.isTooLong)
        return badLineError(line.number, fmt::format("it has more than {} bytes", kMaxRowBytes));
    if (const auto wrong = utf8::findInvalid(line.text))
        return badLineError(line.number, fmt::format("it is not valid UTF-8 (byte {})", *wrong));
    return {};
}

/// JSON Lines, or plain text with one prompt in each line.
class LineRecords final : public RecordReader {
public:
    LineRecords(LineReader lines, DataLayout layout, std::string fileTask, bool isJson)
        : m_lines(std::move(lines))
        , m_layout(std::move(layout))
        , m_fileTask(std::move(fileTask))
        , m_isJson(isJson)
        , m_missing(m_layout.required.begin(), m_layout.required.end()) {}

    Result<std::optional<DataItem>> next() override {
        for (;;) {
            ENGINE_TRY(const auto line, m_lines.next());
            if (!line)
                return std::optional<DataItem>();
            if (line->isTooLong || !isBlankText(line->text))
                return itemOf(read(*line), line->number);
        }
    }

    std::uint64_t bytesRead() const override { return m_lines.place().offset; }

    bool hasField(std::string_view name) const override {
        return m_isJson && !m_missing.contains(name);
    }

private:
    Result<DataRecord> read(const TextLine& line) {
        ENGINE_TRY_DO(checkLine(line));
        if (m_isJson)
            return readJsonRecord(line, m_layout, m_fileTask, m_missing);
        return DataRecord{.line = line.number,
                          .task = taskOfRecord(m_layout, m_fileTask, ""),
                          .id = fmt::format("{}", line.number),
                          .turns = {std::string(line.text)}};
    }

    LineReader m_lines;
    DataLayout m_layout;
    std::string m_fileTask;
    bool m_isJson;
    FieldSet m_missing; // of the layout's required fields: those that no record had so far
};

class DocumentRecord final : public RecordReader {
public:
    DocumentRecord(std::optional<DataItem> item, std::uint64_t bytes)
        : m_item(std::move(item))
        , m_bytes(bytes) {}

    Result<std::optional<DataItem>> next() override { return std::exchange(m_item, std::nullopt); }

    std::uint64_t bytesRead() const override { return m_item ? 0 : m_bytes; }

private:
    std::optional<DataItem> m_item; // none: it was given
    std::uint64_t m_bytes;
};

/// Line by line, so that encodings and limits are those of the other formats.
Result<std::unique_ptr<RecordReader>>
openDocument(LineReader lines, const DataLayout& layout, const std::string& fileTask) {
    std::string text;
    std::optional<DataItem> item;
    while (!item) {
        ENGINE_TRY(const auto line, lines.next());
        if (!line)
            break;
        auto fault = checkLine(*line);
        if (fault && text.size() + line->text.size() > kMaxRowBytes)
            fault = badLineError(line->number,
                                 fmt::format("more than {} bytes precede its end", kMaxRowBytes));
        if (!fault)
            item = BadLine{line->number, fault.error().message};
        text += text.empty() ? "" : "\n";
        text += line->text;
    }
    if (!item && !isBlankText(text))
        item = DataRecord{.line = 1,
                          .task = taskOfRecord(layout, fileTask, ""),
                          .id = lines.path().stem().string(),
                          .turns = {std::move(text)}};
    const std::uint64_t bytes = lines.place().offset;
    return std::unique_ptr<RecordReader>(std::make_unique<DocumentRecord>(std::move(item), bytes));
}

} // namespace

std::optional<DataItem> itemOf(Result<DataRecord> record, std::int64_t line) {
    if (record)
        return DataItem(std::move(record).value());
    return DataItem(BadLine{line, record.error().message});
}

std::string
taskOfRecord(const DataLayout& layout, const std::string& fileTask, std::string_view own) {
    if (layout.taskSource == TaskSource::Fixed)
        return layout.task;
    const bool hasOwn = layout.taskSource == TaskSource::Field && !isBlankText(own);
    return hasOwn ? std::string(own) : fileTask;
}

Result<std::unique_ptr<RecordReader>> openRecords(const std::filesystem::path& path,
                                                  const DataLayout& layout,
                                                  const std::string& fileTask,
                                                  const std::stop_token& stop) {
    ENGINE_TRY(LineReader lines, LineReader::open(path, kMaxRowBytes, stop));
    const DataFormat format = dataFormatOf(path);
    if (format == DataFormat::Table)
        return openTable(std::move(lines), layout, fileTask, stop);
    if (format == DataFormat::Document)
        return openDocument(std::move(lines), layout, fileTask);
    return std::unique_ptr<RecordReader>(std::make_unique<LineRecords>(
        std::move(lines), layout, fileTask, format == DataFormat::JsonLines));
}

} // namespace engine
