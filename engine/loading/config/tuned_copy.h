// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"

#include <filesystem>

namespace engine {

/// The file beside a model that a training has made; it says how.
inline constexpr const char* kTuningFile = "tuning.json";

/// The member by which that file is known.
inline constexpr const char* kTuningMark = "swift_studio_tuning";

/// Takes what the training told of how to draft with the model in this folder, if it was made by
/// one. What cannot be used is noted: nothing but speed is lost without it.
void adoptTuning(const std::filesystem::path& folder, ModelConfig& config);

} // namespace engine
