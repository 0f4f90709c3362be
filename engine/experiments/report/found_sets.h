// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/statistics/skip_set_memory.h"
#include "engine/experiments/run/run_folder.h"

#include <string>
#include <vector>

namespace engine {

/// The file of a report with the skip sets that its run has found.
inline constexpr const char* kFoundSetsName = "skip_sets.json";

/// A skip set that a run has found. A plain value.
struct FoundSkipSet {
    std::string task;
    std::string model;       ///< its name
    std::string fingerprint; ///< of the model, see modelFingerprint()
    StoredSkipSet stored;    ///< its decoder names the run, too

    bool operator==(const FoundSkipSet&) const = default;
};

/// One set for each model and task: that of a search beforehand with the highest score, else the
/// last one of the variant that answered the task fastest. Reads all shards, one after another; one
/// that is not finished or is damaged is left out, but of a stream what is done counts. Errors: Io.
Result<std::vector<FoundSkipSet>> foundSets(const RunFolder& run);

/// The published shape, whose entries also say how they were found, for readSkipSetImport(). An
/// entry has the task's name, of several models "MODEL_TASK".
std::string foundSetsJson(const std::vector<FoundSkipSet>& sets);

} // namespace engine
