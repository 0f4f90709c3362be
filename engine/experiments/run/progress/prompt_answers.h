// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/run/run_folder.h"

#include <vector>

namespace engine {

/// All that a run has kept of one prompt. A plain value.
struct PromptAnswers {
    DataRecord prompt = {};
    std::vector<ShardAnswer> answers = {}; ///< those asked first, one a variant, in their order
    std::vector<ShardRound> rounds = {};   ///< of these answers, if the recipe keeps rounds
};

/// Reads all parts that ask this prompt (line of data.jsonl, from 0), also those at work. A part
/// that cannot be read counts as not begun. Errors: InvalidInput if there is no such prompt.
Result<PromptAnswers> readPromptAnswers(const RunFolder& folder, int prompt);

} // namespace engine
