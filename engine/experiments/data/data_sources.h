// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace engine {

/// A file with prompts.
struct DataSource {
    std::filesystem::path path;
    std::string task;        ///< of records that name none
    bool isOfFolder = false; ///< it was found in a folder, not named itself
};

/// The files that these paths name, in their order; none of them is opened. A folder stands for the
/// data files in it (not in its sub-folders), sorted by name: .jsonl, .ndjson, .csv, .tsv, .tab and
/// .txt; only if there are none of these, .md and .markdown, which otherwise just describe the
/// data. The task of a file is its name without the extension; that of a folder's documents is the
/// folder's name, because each of them is one prompt. Errors: NotFound for a path that does not
/// exist; Io for a folder that cannot be read; InvalidInput for one without such files.
Result<std::vector<DataSource>> findDataSources(const std::vector<std::string>& paths);

} // namespace engine
