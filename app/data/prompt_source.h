// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/data/prompt_set.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

namespace app {

using engine::DataPrompt;

/// Which prompts a command uses, as typed.
using DataOptions = engine::DataChoice;

/// --data and all that says how the files are read, which of their prompts are used and in which
/// order.
void addDataOptions(CLI::App& command, DataOptions& options);

/// --limit alone.
void addLimitOption(CLI::App& command, DataOptions& options);

/// --raw.
void addRawOption(CLI::App& command, bool& isRaw);

/// Reads all prompts before anything else is done, in the order in which they are used; reports
/// what is left out on standard error: the first invalid lines of each file and the number of the
/// others. Errors: those of collectPrompts.
engine::Result<engine::PromptSet> readPrompts(const DataOptions& options,
                                              const std::stop_token& stop = {});

/// Counts for reports.
struct DataSummary {
    std::int64_t prompts = 0;
    std::int64_t badLines = 0;
};

DataSummary summaryOf(const engine::PromptSet& set);

/// Calls `visit` for the prompts in order, until it returns false. Errors: those of `visit`.
engine::Result<void>
forEachPrompt(const std::vector<DataPrompt>& prompts,
              const std::function<engine::Result<bool>(const DataPrompt&)>& visit);

/// The end of a run that has skipped each prompt and said why. InvalidInput.
engine::Error noAnswerError();

} // namespace app
