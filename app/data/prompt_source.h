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

/// Where prompts come from.
struct DataOptions {
    std::vector<std::string> files;
    engine::DataStreamOptions stream; ///< the limit holds for each file
};

/// --data, --limit.
void addDataOptions(CLI::App& command, DataOptions& options);

/// What the files hold.
struct DataSummary {
    std::int64_t prompts = 0;
    std::int64_t badLines = 0;
};

/// Reads all files through (up to the limit) before anything else is done, and names the first
/// bad lines of each on standard error and counts the others. Errors: those of DataStream;
/// InvalidInput for a file without prompts, which says why it has none.
engine::Result<DataSummary> checkData(const DataOptions& options);

/// One prompt and its file.
struct DataPrompt {
    std::string file;
    engine::DataRecord record;
};

/// Calls `visit` for every prompt of all files in order, until it answers false. Bad lines are
/// passed over: checkData() has named them. Errors: those of DataStream and of `visit`.
engine::Result<void>
forEachPrompt(const DataOptions& options,
              const std::function<engine::Result<bool>(const DataPrompt&)>& visit);

} // namespace app
