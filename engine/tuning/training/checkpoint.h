// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/training/evaluation.h"
#include "engine/tuning/training/schedule.h"
#include "engine/tuning/training/text_order.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace engine {

/// Where a training stands, without its numbers. All that decides what comes next. A plain value.
struct TrainingPlace {
    std::int64_t serial = 0; ///< counts the checkpoints of a run; the newest has the highest
    std::int64_t step = 0;   ///< steps done
    TextOrderPlace order;
    Schedule schedule;
    bool isFixed = false;           ///< the number of steps is decided
    double minutes = 0.0;           ///< of the plan for which it is
    double rateFactor = 1.0;        ///< halved behind each failure
    int failures = 0;               ///< losses that were not finite
    std::int64_t evaluated = -1;    ///< the newest step that was evaluated
    int worse = 0;                  ///< evaluations since the best one
    std::int64_t goodStep = -1;     ///< of the state to go back to
    double seconds = 0.0;           ///< of training so far
    std::optional<Evaluation> best; ///< of the averaged weights that are kept
};

/// A training that can go on. A plain value.
struct Checkpoint {
    TrainingPlace place;
    NamedArrays trainer; ///< Trainer::state()
    NamedArrays best;    ///< Trainer::result() of the best evaluation; empty before one
};

/// What a checkpoint belongs to: hashes of the plan and of the rows.
struct CheckpointOwner {
    std::string run;
    std::string rows;
};

/// Writes it as a whole: a reader, or a machine that loses power, finds the earlier file or this
/// one. Errors: Io.
Result<void> writeCheckpoint(const std::filesystem::path& path,
                             const CheckpointOwner& owner,
                             const Checkpoint& checkpoint);

/// Errors: NotFound; Io; CorruptFile for a damaged file and for one of another run or other rows.
Result<Checkpoint> readCheckpoint(const std::filesystem::path& path, const CheckpointOwner& owner);

} // namespace engine
