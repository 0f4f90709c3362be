// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/data/run_data.h"

#include "engine/experiments/data/data_stream.h"
#include "engine/loading/files/atomic_file.h"
#include "engine/loading/json/json_text.h"

namespace engine {

namespace {

/// One text, or a list of several.
std::string jsonOf(const std::vector<std::string>& texts) {
    if (texts.size() == 1)
        return jsonString(texts.front());
    std::string list;
    for (const std::string& text : texts)
        list += (list.empty() ? "" : ",") + jsonString(text);
    return "[" + list + "]";
}

std::string lineOf(const DataRecord& record) {
    std::string line = fmt::format(R"({{"task":{},"id":{},"prompt":{})",
                                   jsonString(record.task),
                                   jsonString(record.id),
                                   jsonOf(record.turns));
    if (!record.references.empty())
        line += ",\"reference\":" + jsonOf(record.references);
    if (!record.test.empty())
        line += ",\"test\":" + jsonString(record.test);
    if (!record.entryPoint.empty())
        line += ",\"entry_point\":" + jsonString(record.entryPoint);
    return line + "}\n";
}

Error damaged(const std::filesystem::path& path, const std::string& problem) {
    return {ErrorCode::CorruptFile,
            fmt::format("{}: {}", path.string(), problem),
            "The prompts of this run are lost: start the experiment again in another folder."};
}

} // namespace

Result<void> writeRunData(const std::filesystem::path& path,
                          const std::vector<DataPrompt>& prompts) {
    std::string lines;
    for (const DataPrompt& prompt : prompts)
        lines += lineOf(prompt.record);
    return writeFileAtomically(path, lines);
}

Result<std::vector<DataRecord>> readRunData(const std::filesystem::path& path) {
    ENGINE_TRY(DataStream stream, DataStream::open(path));
    std::vector<DataRecord> records;
    for (;;) {
        ENGINE_TRY(auto item, stream.next());
        if (!item)
            break;
        if (const auto* bad = std::get_if<BadLine>(&*item))
            return damaged(path, bad->message);
        records.push_back(std::get<DataRecord>(std::move(*item)));
        if (records.back().line != static_cast<std::int64_t>(records.size()))
            return damaged(path, fmt::format("line {} is empty", records.size()));
    }
    if (records.empty())
        return damaged(path, "it has no prompts");
    return records;
}

} // namespace engine
