// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/experiment/setup/experiment_options.h"
#include "engine/experiments/run/run_folder.h"

#include <stop_token>
#include <string>
#include <vector>

namespace app {

/// A run that is fully described, but of which nothing is written yet.
struct PreparedRun {
    engine::Recipe recipe; ///< of one size, with the options in it
    engine::RunPlan plan;
    std::vector<engine::DataRecord> prompts; ///< those that the shards ask
};

/// Reads recipe, prompts and models and makes the plan. Errors: those of all of these, and of
/// options with which a model could not be loaded; no model is loaded for that.
engine::Result<PreparedRun> prepareRun(ExperimentOptions options, const std::stop_token& stop);

/// The options that were given and say what is run, by their names: the recipe, prompts, models,
/// amounts, and whether an earlier run goes.
std::vector<std::string> givenOptions(const ExperimentOptions& options);

} // namespace app
