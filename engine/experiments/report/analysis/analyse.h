// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/report/experiment_result.h"
#include "engine/experiments/report/report_wishes.h"
#include "engine/experiments/run/shard_result.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// A variant as the report names it.
struct ReportVariant {
    std::string name;                               ///< as in the shards
    std::string label;                              ///< as people read it; empty: the name
    std::map<std::string, std::string> values = {}; ///< for groupings: "gamma" to "32"
};

/// Everything about a run that its shards do not say. A plain value.
struct ReportInput {
    std::string recipe;
    std::string title;
    std::string source;
    std::string size;
    ReportWishes wishes;
    std::vector<ReportVariant> variants; ///< in the order of the report; vanilla is one of them
    std::vector<std::string> tasks = {}; ///< in the order of the report; others follow by name
    int layers = 0;                      ///< of the model
    int plannedShards = 0;
    std::vector<std::pair<std::string, std::string>> facts = {}; ///< "Model" to its name, ...
    std::vector<std::string> remarks = {};
};

/// The name of the variant with which all others are compared.
inline constexpr const char* kVanilla = "vanilla";

/// The share by which vanilla may move between its two passes; beyond it no speedup is printed.
inline constexpr double kBaselineLimit = 0.05;

/// Merges finished shards into the result that people read. The order of the shards does not
/// matter. Errors: InvalidInput for a wish that names an unknown metric, grouping or subject.
Result<ExperimentResult> analyse(const ReportInput& input, std::vector<ShardResult> shards);

} // namespace engine
