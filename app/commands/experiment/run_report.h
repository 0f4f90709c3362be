// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/streams/console.h"
#include "engine/experiments/report/experiment_result.h"
#include "engine/experiments/run/run_folder.h"

#include <string>

namespace app {

/// Merges what is finished into result.json. Errors: Io; CorruptFile for a shard that was damaged
/// meanwhile.
engine::Result<engine::ExperimentResult> mergeRun(const engine::RunFolder& folder);

/// The same, and the report: report/report.html, its tables and figures. Tells the verdict.
/// Errors: as mergeRun().
engine::Result<void> reportRun(const engine::RunFolder& folder, const Console& console);

/// Sets the results of two runs side by side; each is a run's folder or its result.json. Errors:
/// NotFound, CorruptFile; InvalidInput for runs of two recipes.
engine::Result<void>
compareRuns(const std::string& before, const std::string& after, const Console& console);

} // namespace app
