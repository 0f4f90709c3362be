// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/data/data_layout.h"
#include "engine/experiments/data/data_record.h"
#include "engine/experiments/data/prompt_set.h"

#include <functional>
#include <utility>

namespace engine {

/// What the files of a run hold under a layout, as far as they were read.
struct DataPreview {
    std::vector<DataField> fields = {};     ///< of all files, in the order in which they appear
    std::vector<DataPrompt> first = {};     ///< the first prompts; long texts are cut
    std::vector<DataProblem> problems = {}; ///< the first of each file
    std::int64_t files = 0;
    std::int64_t prompts = 0;
    std::int64_t badLines = 0;
    /// Prompts of each task, in the order in which the tasks appear; at most kMaxPreviewTasks.
    std::vector<std::pair<std::string, std::int64_t>> tasks = {};
    bool hasMoreTasks = false; ///< `tasks` lacks some
    double part = 0.0;         ///< of the bytes of all files that was read, 0 to 1
};

inline constexpr std::size_t kMaxPreviewTasks = 1000;

struct PreviewOptions {
    std::size_t firstPrompts = 20;
    std::size_t textBytes = 2000; ///< longer texts in `first` are cut and end in "..."
    /// Called with what is known so far: as soon as the first prompts are there, then after every
    /// few megabytes. May be empty.
    std::function<void(const DataPreview&)> onProgress = {};
};

/// Reads all files of these paths once, in bounded memory whatever they hold. Faults of files are
/// named in `problems`, never errors. Errors: those of findDataSources(); Cancelled. Thread: any.
Result<DataPreview> previewData(const std::vector<std::string>& paths,
                                const DataLayout& layout,
                                const PreviewOptions& options = {},
                                const std::stop_token& stop = {});

} // namespace engine
