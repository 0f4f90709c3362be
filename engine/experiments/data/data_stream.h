// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/data/data_layout.h"
#include "engine/experiments/data/data_record.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace engine {

class RecordReader;

struct DataStreamOptions {
    DataLayout layout = {};
    std::optional<std::int64_t> limit = {};   ///< of the records returned; bad lines do not count
    std::optional<std::string> onlyTask = {}; ///< records of other tasks are skipped
    std::string fileTask = {}; ///< the task of the file; empty = its name without the extension
    std::stop_token stop = {};
};

/// Reads prompts from a file of any DataFormat in order, with one record in memory. UTF-8; lines
/// end with LF or CRLF, empty ones are skipped, and one with more than 16 MB is a bad line, as is a
/// row of a table or a document of that size. Thread: one.
class DataStream {
public:
    /// Errors: NotFound, Io; Unsupported for UTF-16 and UTF-32; InvalidInput for what is no regular
    /// file, for a negative limit, and for a table that lacks a column for the prompts.
    static Result<DataStream> open(const std::filesystem::path& path,
                                   const DataStreamOptions& options = {});

    DataStream(DataStream&& other) noexcept;
    DataStream& operator=(DataStream&& other) noexcept;
    ~DataStream();

    /// The next record or bad line; nothing at the end. Errors: Io, CorruptFile (the file was cut
    /// short while it was read), InvalidInput (a line without end), Cancelled; nothing more can be
    /// read then.
    Result<std::optional<DataItem>> next();

    /// Bytes of the file that were read.
    std::uint64_t bytesRead() const;

    /// Whether the table has a column of this name, or a record so far a field of
    /// DataLayout::required. False for plain text and documents.
    bool hasField(std::string_view name) const;

    /// A sentence about the file as a whole, such as of two columns with one name; empty for none.
    std::string remark() const;

private:
    DataStream(std::unique_ptr<RecordReader> records, const DataStreamOptions& options);

    std::unique_ptr<RecordReader> m_records;
    std::optional<std::int64_t> m_limit;
    std::optional<std::string> m_onlyTask;
    std::int64_t m_recordCount = 0;
};

} // namespace engine
