// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tuning/training/draft_training.h"
#include "engine/tuning/training/head_list.h"

#include <string>
#include <vector>

namespace engine {

/// Whose prompts the model answered.
struct DataOrigin {
    std::string file; ///< its name without folders
    std::string licence = "unknown";
};

/// What the file of a trained adapter says about how it was made. A plain value.
struct AdapterOrigin {
    std::string model;       ///< its name, for people
    std::string fingerprint; ///< of the model
    std::vector<DataOrigin> dataFiles;
    std::vector<std::string> shards; ///< hashes of the rows
    std::int64_t answerTokens = 0;   ///< that were trained on
    TuningPlan plan;
    std::string date; ///< UTC; the one thing that differs between equal runs
};

/// The adapter of trained weights. Weights that do not fit the sizes are a bug (ENGINE_CHECK).
DraftAdapter makeTrainedAdapter(const TrainingResult& result,
                                const DraftSizes& sizes,
                                const HeadList& head,
                                const AdapterOrigin& origin);

/// The JSON text that describes it in its file: what a reader needs, its data, its training and
/// what it was worth.
std::string adapterDescriptionOf(const DraftAdapter& adapter,
                                 const TrainingResult& result,
                                 const HeadList& head,
                                 const AdapterOrigin& origin);

} // namespace engine
