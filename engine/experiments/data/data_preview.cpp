// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/data/data_preview.h"

#include "engine/experiments/data/data_sources.h"
#include "engine/experiments/data/data_stream.h"
#include "engine/text/vocabulary/utf8.h"

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

namespace engine {

namespace {

constexpr std::uint64_t kBytesBetweenReports = 4'000'000;
constexpr std::size_t kTaskBytes = 200;
constexpr std::size_t kMaxFieldsShown = 1000;

/// Cuts a text between two characters.
void shorten(std::string& text, std::size_t most) {
    if (text.size() <= most)
        return;
    text.resize(most);
    text.resize(utf8::findInvalid(text).value_or(most));
    text += "...";
}

DataPrompt shortened(const std::string& file, DataRecord record, std::size_t most) {
    for (auto* texts : {&record.turns, &record.references})
        for (std::string& text : *texts)
            shorten(text, most);
    for (std::string* text : {&record.task, &record.id, &record.test, &record.entryPoint})
        shorten(*text, most);
    return {file, std::move(record)};
}

class Previewer {
public:
    Previewer(const DataLayout& layout, const PreviewOptions& options, std::stop_token stop)
        : m_layout(layout)
        , m_options(options)
        , m_stop(std::move(stop)) {}

    Result<DataPreview> run(const std::vector<DataSource>& sources) {
        for (const DataSource& source : sources) {
            std::error_code unknown;
            const auto size = std::filesystem::file_size(source.path, unknown);
            m_allBytes += unknown ? 0 : size;
        }
        for (const DataSource& source : sources) {
            ++m_preview.files;
            const auto read = readFile(source);
            if (!read && read.error().code == ErrorCode::Cancelled)
                return read.error();
            if (!read)
                m_preview.problems.push_back({source.path.string(), 0, read.error().message});
            m_doneBytes += m_fileBytes;
            m_fileBytes = 0;
        }
        m_preview.part = 1.0;
        return std::move(m_preview);
    }

private:
    Result<void> readFile(const DataSource& source) {
        ENGINE_TRY(const auto fields, fieldsOf(source.path, m_layout, m_stop));
        addFields(fields);
        ENGINE_TRY(DataStream stream,
                   DataStream::open(source.path,
                                    {.layout = m_layout, .fileTask = source.task, .stop = m_stop}));
        if (std::string remark = stream.remark(); !remark.empty())
            m_preview.problems.push_back({source.path.string(), 0, std::move(remark)});
        std::int64_t badLines = 0;
        for (;;) {
            ENGINE_TRY(auto item, stream.next());
            m_fileBytes = stream.bytesRead();
            if (!item)
                break;
            if (const auto* bad = std::get_if<BadLine>(&*item)) {
                ++m_preview.badLines;
                if (++badLines <= kMaxProblemsOfFile)
                    m_preview.problems.push_back({source.path.string(), bad->line, bad->message});
            } else {
                addRecord(source.path.string(), std::get<DataRecord>(std::move(*item)));
            }
            report();
        }
        return {};
    }

    void addFields(const std::vector<DataField>& fields) {
        for (const DataField& field : fields) {
            const bool isKnown =
                std::any_of(m_preview.fields.begin(),
                            m_preview.fields.end(),
                            [&](const auto& each) { return each.name == field.name; });
            if (!isKnown && m_preview.fields.size() < kMaxFieldsShown)
                m_preview.fields.push_back(field);
        }
    }

    void addRecord(const std::string& file, DataRecord record) {
        ++m_preview.prompts;
        shorten(record.task, kTaskBytes);
        if (const auto known = m_taskAt.find(record.task); known != m_taskAt.end()) {
            ++m_preview.tasks[known->second].second;
        } else if (m_preview.tasks.size() < kMaxPreviewTasks) {
            m_taskAt.emplace(record.task, m_preview.tasks.size());
            m_preview.tasks.emplace_back(record.task, 1);
        } else {
            m_preview.hasMoreTasks = true;
        }
        if (m_preview.first.size() < m_options.firstPrompts)
            m_preview.first.push_back(shortened(file, std::move(record), m_options.textBytes));
    }

    void report() {
        const std::uint64_t done = m_doneBytes + m_fileBytes;
        const bool hasFirst = m_preview.first.size() == m_options.firstPrompts;
        const bool isDue = done >= m_reportedBytes + kBytesBetweenReports ||
                           (hasFirst && !std::exchange(m_hasReportedFirst, hasFirst));
        if (!isDue || !m_options.onProgress)
            return;
        m_reportedBytes = done;
        m_preview.part = std::min(
            1.0, static_cast<double>(done) / std::max(1.0, static_cast<double>(m_allBytes)));
        m_options.onProgress(m_preview);
    }

    const DataLayout& m_layout;
    const PreviewOptions& m_options;
    std::stop_token m_stop;
    DataPreview m_preview;
    std::map<std::string, std::size_t> m_taskAt; // index into the preview's tasks
    std::uint64_t m_allBytes = 0;
    std::uint64_t m_doneBytes = 0; // of the files before this one
    std::uint64_t m_fileBytes = 0; // of this one
    std::uint64_t m_reportedBytes = 0;
    bool m_hasReportedFirst = false;
};

} // namespace

Result<DataPreview> previewData(const std::vector<std::string>& paths,
                                const DataLayout& layout,
                                const PreviewOptions& options,
                                const std::stop_token& stop) {
    ENGINE_TRY(const auto sources, findDataSources(paths));
    return Previewer(layout, options, stop).run(sources);
}

} // namespace engine
