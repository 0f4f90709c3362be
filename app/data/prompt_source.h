// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/data_stream.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace app {

/// The source of prompts.
struct DataOptions {
    std::vector<std::string> files;
    engine::DataStreamOptions stream; ///< the limit applies to each file
};

/// --data, --limit.
void addDataOptions(CLI::App& command, DataOptions& options);

/// --limit alone.
void addLimitOption(CLI::App& command, DataOptions& options);

/// --raw.
void addRawOption(CLI::App& command, bool& isRaw);

/// The content of the files.
struct DataSummary {
    std::int64_t prompts = 0;
    std::int64_t badLines = 0;
};

/// Reads all files (up to the limit) before anything else is done; reports the first invalid lines
/// of each file on standard error and counts the others. Errors: those of DataStream; InvalidInput
/// for a file without prompts, saying why it has none.
engine::Result<DataSummary> checkData(const DataOptions& options);

/// One prompt and its file.
struct DataPrompt {
    std::string file;
    engine::DataRecord record;
};

/// Calls `visit` for every prompt of all files in order, until it returns false. Invalid lines are
/// skipped: checkData() has reported them. Errors: those of DataStream and of `visit`.
engine::Result<void>
forEachPrompt(const DataOptions& options,
              const std::function<engine::Result<bool>(const DataPrompt&)>& visit);

} // namespace app
