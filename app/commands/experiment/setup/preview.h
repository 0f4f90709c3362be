// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/experiment/setup/prepared_run.h"
#include "app/streams/console.h"

namespace app {

/// What a run costs at most: counted, but for the minutes.
struct RunCost {
    long shards = 0;
    long answers = 0;
    long tokens = 0;       ///< if every answer has the full length, the searches' own included
    long promptTokens = 0; ///< read, each as often as it is asked
    double minutes = 0.0;  ///< as if every token took the time of vanilla's
    double tokensPerSecond = 0.0; ///< of vanilla, as measured with the first model
};

/// Counts, and measures vanilla on the first prompt with each model for a few seconds. Errors:
/// those of loading the models and of the prompt; Cancelled.
engine::Result<RunCost> previewRun(const PreparedRun& run, const std::stop_token& stop);

} // namespace app
