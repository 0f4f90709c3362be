// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/data/data_model.h"
#include "engine/experiments/run/run_folder.h"

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace app {

/// What tells a model and its draft adapter from others, read from their files alone. Errors: those
/// of opening the model; InvalidInput for a path that is not UTF-8, which no plan can hold; those
/// of adoptDraftAdapter() for an adapter that was asked for.
engine::Result<engine::RunModel> describeModel(const ModelOptions& options);

/// A path as a run keeps it: it holds in every folder. Empty stays empty.
std::string keptPath(const std::string& typed);

/// The options with which a model of a run is loaded. Errors: InvalidInput for a setting that the
/// backend does not have.
engine::Result<ModelOptions> modelOptionsOf(const engine::RunOptions& run,
                                            const engine::RunModel& model);

/// Keeps the options in the form in which they are stored, paths as keptPath(); the inverse of
/// modelOptionsOf().
void putModelOptions(const ModelOptions& options, engine::RunOptions& run);

/// Goes on with these model files where those of a run have moved: each takes the place of the
/// run's models that are the same. Errors: InvalidInput for a file that is none of them; those of
/// opening it and of RunFolder::moveModels().
engine::Result<void> useMovedModels(engine::RunFolder& folder,
                                    const std::vector<std::string>& paths);

/// A model that is ready for shards, and the machine that runs it.
struct ShardModel {
    DataModel data;
    engine::MachineFacts machine;
};

/// Errors: those of loading; InvalidInput if the model's files or its draft adapter are not those
/// of the plan, or if another build of this program began the run.
engine::Result<ShardModel>
loadShardModel(const engine::RunFolder& folder, int model, const std::stop_token& stop);

} // namespace app
