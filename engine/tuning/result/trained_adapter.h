// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/result/run_origin.h"
#include "engine/tuning/training/draft_training.h"
#include "engine/tuning/training/head_list.h"

#include <string>

namespace engine {

/// The adapter of trained weights. Weights that do not fit the sizes are a bug (ENGINE_CHECK).
DraftAdapter makeTrainedAdapter(const TrainingResult& result,
                                const DraftSizes& sizes,
                                const HeadList& head,
                                const RunOrigin& origin);

/// The JSON text that describes it in its file: what a reader needs, its data, its training and
/// what it was worth.
std::string adapterDescriptionOf(const DraftAdapter& adapter,
                                 const TrainingResult& result,
                                 const HeadList& head,
                                 const RunOrigin& origin);

} // namespace engine
