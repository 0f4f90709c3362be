// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/tune/tune_options.h"
#include "engine/loading/model_config.h"

#include <cstdint>

namespace app {

/// What a training takes, about, in bytes. A plain value.
struct TuningEstimate {
    double memory = 0.0; ///< while it trains, the program counted; 0: nothing is trained
    double disk = 0.0;   ///< most of it in OUT.work, while it runs
};

/// `trained`: weights that are trained; 0 where answers are only collected. Where time decides how
/// many answers there are, the disk is that of the most.
TuningEstimate
estimateOf(const engine::TuningPlan& plan, const engine::ModelConfig& model, std::int64_t trained);

/// So many answer tokens at most fit into so many bytes beside all else; negative if not even that
/// fits.
std::int64_t answersThatFit(const engine::TuningPlan& plan,
                            const engine::ModelConfig& model,
                            std::int64_t trained,
                            double diskBytes);

/// Whether a training keeps to --memory-mb and --disk-gb. Errors: NoMemory and Io, each with the
/// figure that is needed.
engine::Result<void> checkLimits(const TuneOptions& options, const TuningEstimate& estimate);

} // namespace app
