// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/data/data_stream.h"

#include <QStringList>
#include <QtGlobal>

/// Whole data files, for tests.
namespace test_support {

/// What a stream gave, record after record.
struct Content {
    std::vector<engine::DataRecord> records;
    std::vector<engine::BadLine> badLines;
};

inline Content readContent(const std::filesystem::path& path,
                           const engine::DataStreamOptions& options = {}) {
    Content content;
    auto stream = engine::DataStream::open(path, options);
    if (!stream)
        qFatal("%s", stream.error().message.c_str());
    for (;;) {
        const auto item = stream.value().next();
        if (!item)
            qFatal("%s", item.error().message.c_str());
        if (!item.value())
            return content;
        if (const auto* record = std::get_if<engine::DataRecord>(&*item.value()))
            content.records.push_back(*record);
        else
            content.badLines.push_back(std::get<engine::BadLine>(*item.value()));
    }
}

/// All turns of all records.
inline QStringList promptsOf(const Content& content) {
    QStringList prompts;
    for (const engine::DataRecord& record : content.records)
        for (const std::string& turn : record.turns)
            prompts << QString::fromStdString(turn);
    return prompts;
}

} // namespace test_support
