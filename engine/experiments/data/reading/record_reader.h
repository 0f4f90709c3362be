// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/data/data_layout.h"
#include "engine/experiments/data/data_record.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace engine {

/// Reads the records of a file of one format, one after another. Thread: one.
class RecordReader {
public:
    virtual ~RecordReader() = default;

    /// The next record or bad line; nothing at the end. Errors: those of LineReader.
    virtual Result<std::optional<DataItem>> next() = 0;

    /// Bytes of the file that were read.
    virtual std::uint64_t bytesRead() const = 0;

    /// See DataStream.
    virtual bool hasField(std::string_view /*name*/) const { return false; }

    virtual std::string remark() const { return {}; }
};

/// The reader for the file's format; `fileTask` is the task of the file. Errors: those of
/// LineReader::open; InvalidInput for a table without a column for the prompts.
Result<std::unique_ptr<RecordReader>> openRecords(const std::filesystem::path& path,
                                                  const DataLayout& layout,
                                                  const std::string& fileTask,
                                                  const std::stop_token& stop);

/// A line as an item: with its record, or with the error's message.
std::optional<DataItem> itemOf(Result<DataRecord> record, std::int64_t line);

/// The task of a record; `own` is the text in its field for that, blank if it has none.
std::string
taskOfRecord(const DataLayout& layout, const std::string& fileTask, std::string_view own);

} // namespace engine
