// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/commands.h"
#include "app/commands/tune/tune_options.h"

#include <stop_token>

namespace app {

/// Collects what is missing of the rows, trains, and writes the adapter. Errors: those of all
/// these; Cancelled with everything in place for --resume.
engine::Result<void> runTuning(const TuneOptions& options,
                               const engine::TuningPlan& plan,
                               const Console& console,
                               const std::stop_token& stop);

/// Prints what an adapter file holds, and whether it fits the model. Errors: those of reading it;
/// InvalidInput if it does not fit.
engine::Result<void> checkAdapterFile(const TuneOptions& options, const Console& console);

} // namespace app
