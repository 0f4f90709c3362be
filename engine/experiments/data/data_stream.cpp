// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/data/data_stream.h"

#include "engine/experiments/data/reading/record_reader.h"

#include <utility>

namespace engine {

DataStream::DataStream(std::unique_ptr<RecordReader> records, const DataStreamOptions& options)
    : m_records(std::move(records))
    , m_limit(options.limit)
    , m_onlyTask(options.onlyTask) {}

DataStream::DataStream(DataStream&& other) noexcept = default;
DataStream& DataStream::operator=(DataStream&& other) noexcept = default;
DataStream::~DataStream() = default;

Result<DataStream> DataStream::open(const std::filesystem::path& path,
                                    const DataStreamOptions& options) {
    if (options.limit.value_or(0) < 0)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("the limit of records is {}", *options.limit),
                     "Give 0 or more, or leave it out to read all."};
    const std::string task = options.fileTask.empty() ? path.stem().string() : options.fileTask;
    ENGINE_TRY(auto records, openRecords(path, options.layout, task, options.stop));
    return DataStream(std::move(records), options);
}

Result<std::optional<DataItem>> DataStream::next() {
    while (!m_limit || m_recordCount < *m_limit) {
        ENGINE_TRY(std::optional<DataItem> item, m_records->next());
        if (!item)
            break;
        if (const auto* record = std::get_if<DataRecord>(&*item)) {
            if (m_onlyTask && record->task != *m_onlyTask)
                continue;
            ++m_recordCount;
        }
        return item;
    }
    return std::optional<DataItem>();
}

std::uint64_t DataStream::bytesRead() const { return m_records->bytesRead(); }

bool DataStream::hasField(std::string_view name) const { return m_records->hasField(name); }

std::string DataStream::remark() const { return m_records->remark(); }

} // namespace engine
