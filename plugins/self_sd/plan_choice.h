// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/statistics/skip_set_memory.h"
#include "engine/loading/model_config.h"
#include "plugins/self_sd/self_sd_settings.h"

#include <filesystem>
#include <string>

namespace self_sd {

/// A plan to draft with, and where it came from.
struct ChosenPlan {
    engine::LayerPlan plan;
    std::string source;    ///< "library", "published", ...: of the plan that is really used
    std::string note = {}; ///< for the user, when it is not what was asked for
};

/// The plan that the settings name. Where none is at hand (nothing stored, nothing given, a broken
/// memory) it is the uniform one and a note, so that decoding goes on.
/// Errors: InvalidInput for a manual or published set that does not fit the model, and for an entry
/// that is not there or not named; those of readPublishedSkipSets.
engine::Result<ChosenPlan> choosePlan(const PlanSettings& settings,
                                      const engine::ModelConfig& config,
                                      const engine::SkipSetMemory* memory,
                                      const std::string& task);

/// The published sets that were installed with this module.
std::filesystem::path publishedFile();

} // namespace self_sd
