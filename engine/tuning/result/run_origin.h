// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/tuning_plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

/// Whose prompts the model answered.
struct DataOrigin {
    std::string file; ///< its name without folders
    std::string licence = "unknown";
};

/// What the result of a run says about how it was made. A plain value.
struct RunOrigin {
    std::string model;       ///< its name, for people
    std::string fingerprint; ///< of the model
    std::vector<DataOrigin> dataFiles;
    std::vector<std::string> shards; ///< hashes of the rows
    std::int64_t answerTokens = 0;   ///< that were trained on
    TuningPlan plan;
    std::string date; ///< UTC; the one thing that differs between equal runs
};

} // namespace engine
