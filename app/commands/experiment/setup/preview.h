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
    double minutes = 0.0;  ///< by the time that each decoder takes for a token, as measured
    double tokensPerSecond = 0.0; ///< of vanilla, as measured with the first model
};

/// Counts, and measures vanilla and the run's other decoders on the first prompt with each model,
/// for half a minute or so at most. Those that are not measured count as the others do on average,
/// and searches as vanilla. Errors: those of loading the models and of the prompt; Cancelled.
engine::Result<RunCost> previewRun(const PreparedRun& run, const std::stop_token& stop);

} // namespace app
