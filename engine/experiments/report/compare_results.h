// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/experiments/report/experiment_result.h"

namespace engine {

/// Sets two results of the same recipe side by side: one row for each number that both have, and
/// whether it moved beyond the two intervals. Rows belong together by their names; of rows of one
/// name the first with the first and so on, and none if there are more of them in one result.
/// Errors: InvalidInput for two different recipes.
Result<ExperimentResult> compareResults(const ExperimentResult& before,
                                        const ExperimentResult& after);

} // namespace engine
