// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"
#include "engine/tuning/tuning_plan.h"

#include <cstdint>

namespace engine {

/// What a computer has left, in bytes.
struct FreeBytes {
    double memory = 0.0;
    double disk = 0.0; ///< where the output goes
};

/// Refuses a training for which this is clearly too little, before there is any work for it.
/// `trained`: the weights that are trained; 0 where answers are only collected. Errors: NoMemory
/// for the memory, Io for the disk.
Result<void> checkTuningFits(const TuningPlan& plan,
                             const ModelConfig& model,
                             std::int64_t trained,
                             const FreeBytes& left);

} // namespace engine
