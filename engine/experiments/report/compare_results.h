// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/experiments/report/experiment_result.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace engine {

/// Sets two results of the same recipe side by side: one row for each number that both have, and
/// whether it moved beyond the two intervals. Rows belong together by their names; of rows of one
/// name the first with the first and so on, and none if there are more of them in one result.
/// Errors: InvalidInput for two different recipes.
Result<ExperimentResult> compareResults(const ExperimentResult& before,
                                        const ExperimentResult& after);

/// Whether two runs gave the same tokens.
struct TokenComparison {
    std::optional<bool> isEqual = {};        ///< none if they were not compared
    std::vector<std::string> sentences = {}; ///< whether, or why not; then the first prompts that
                                             ///< differ, one each
};

/// Compares the tokens of all answers that both runs have, by their hashes, if both were asked the
/// same: recipe, prompts, seeds and models. Backends and builds may differ. `before` and `after`
/// are a run's folder or its result.json. Reads all parts of both, one after another.
TokenComparison compareTokens(const std::filesystem::path& before,
                              const std::filesystem::path& after);

} // namespace engine
