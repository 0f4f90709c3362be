// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/training/checkpoint_files.h"
#include "engine/tuning/tuning_plan.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace engine {

/// How far a training is. A plain value.
struct TrainingProgress {
    std::int64_t step = 0; ///< done
    std::int64_t steps = 0;
    StepLosses losses; ///< of the newest step
    double rate = 0.0;
    double tokensPerSecond = 0.0; ///< rows of answers, evaluations left out
    double secondsLeft = 0.0;     ///< evaluations counted
};

/// Who is told of a training. Any of them may be empty. Thread: the training's.
struct TrainingWatch {
    std::function<void(const TrainingProgress&)> stepped; ///< behind every step
    std::function<void(const Evaluation&, bool isBest)> evaluated;
    std::function<void(const std::filesystem::path&)> checkpointed;
    std::function<void(const std::string&)> noted; ///< a sentence
};

/// What a training works with. References are guests of the call.
struct TrainingWork {
    const RowStore& rows;
    Trainer& trainer; ///< as it was made
    const TuningPlan& plan;
    CheckpointFiles& checkpoints;
    double checkpointMinutes = 5.0;
    double secondsBefore = 0.0;    ///< of plan.minutes that are gone, by collecting
    std::function<double()> nowMs; ///< a clock
    TrainingWatch watch;
    std::stop_token stop;
};

/// What came out. A plain value.
struct TrainingResult {
    NamedArrays weights;   ///< by the names of adapter files
    Evaluation best;       ///< of these weights
    bool isHeldOut = true; ///< whether it was measured on texts that nothing was trained on
    std::int64_t steps = 0;
    double seconds = 0.0;
    std::optional<Error> failure = {}; ///< the last steps were not made, because of this
};

/// Trains on the training split and keeps the averaged weights that give the most tokens a round on
/// the validation split; without one, on the training texts. Goes on from the newest checkpoint, if
/// there is one, and makes of it bit for bit what an undisturbed training makes; with other minutes
/// than that one had, time decides anew how many steps there are. A loss that is not finite sends
/// it back to the last good state, at half the rate, twice; the third time it ends with the best
/// weights that there were, and says so in TrainingResult::failure.
///
/// Stopped, it finishes the step, writes a checkpoint and returns Cancelled. Errors: Numeric, if
/// there are no best weights then; Io, with the earlier checkpoints kept; those of the trainer.
Result<TrainingResult> trainDrafts(const TrainingWork& work);

} // namespace engine
