// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/data/data_layout.h"
#include "engine/experiments/data/data_order.h"
#include "engine/experiments/data/data_record.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

/// How many prompts are used; none = all. They are the first ones of each file and each task, in
/// the order of the files: which prompts are used depends neither on DataOrder nor on the seed, and
/// a smaller limit uses some of the prompts of a larger one.
struct DataLimits {
    std::optional<std::int64_t> perFile = {};
    std::optional<std::int64_t> perTask = {};
    /// Of all tasks together: each task gives one prompt in turn until there are so many.
    std::optional<std::int64_t> total = {};
};

/// Which prompts a run uses, and in which order.
struct DataChoice {
    std::vector<std::string> paths; ///< files and folders, see findDataSources()
    DataLayout layout = {};         ///< of all of them
    DataLimits limits = {};
    std::optional<std::string> onlyTask = {}; ///< prompts of other tasks are left out
    /// Whether a prompt is used at all; null = each. Where none is, the set is empty.
    std::function<bool(const DataRecord& record)> isUsed = {};
    std::optional<DataOrder> order = {}; ///< none: nobody has chosen one, so as in the files
    std::uint64_t seed = 1;              ///< of the order
};

/// Something that was left out.
struct DataProblem {
    std::string file;
    std::int64_t line = 0; ///< 0 = the whole file
    std::string message;   ///< without the file: "line 3: ..."; with it for a whole file
};

/// Told of what is left out, as it is found. May be empty.
using ProblemSink = std::function<void(const DataProblem&)>;

/// The prompts of a run.
struct PromptSet {
    std::vector<DataPrompt> prompts; ///< in the order in which they are asked
    std::int64_t badLines = 0;       ///< of all files; those behind a limit are not looked at
};

/// So many bad lines of a file are named, the others are counted.
inline constexpr std::int64_t kMaxProblemsOfFile = 20;

/// Reads them; bad lines are left out and named. If a file of a folder cannot be read, or not to
/// its end, it is named as well, its prompts so far are used, and the other files are read; a file
/// that was named itself is an error then. The prompts are held in memory, at most 1 GB of them.
/// Errors: those of findDataSources() and DataStream; InvalidInput for a file that was named itself
/// and has no prompt, for folders without any, for a field of DataLayout::required that no file
/// has, and for more than 1 GB; Cancelled. Thread: any.
Result<PromptSet> collectPrompts(const DataChoice& choice,
                                 const ProblemSink& onProblem,
                                 const std::stop_token& stop = {});

} // namespace engine
