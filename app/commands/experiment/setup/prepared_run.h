// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/experiment/setup/experiment_options.h"
#include "engine/experiments/run/run_folder.h"

#include <stop_token>
#include <vector>

namespace app {

/// A run that is fully described, but of which nothing is written yet.
struct PreparedRun {
    engine::Recipe recipe; ///< of one size, with the options in it
    engine::RunPlan plan;
    std::vector<engine::DataRecord> prompts; ///< those that the shards ask
};

/// Reads recipe, prompts and models and makes the plan. Errors: those of all of these, before any
/// model is loaded.
engine::Result<PreparedRun> prepareRun(ExperimentOptions options, const std::stop_token& stop);

} // namespace app
