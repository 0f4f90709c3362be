// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/config/tuned_copy.h"
#include "engine/loading/model_files.h"
#include "engine/tuning/model/model_quality.h"
#include "engine/tuning/model/tokenizer_files.h"
#include "engine/tuning/result/run_origin.h"
#include "engine/tuning/training/draft_training.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// All of a tuned model's folder but its weights, as it can be said before the training.
struct TunedModelPlan {
    TensorType type = TensorType::BF16;
    TokenId maskToken = kNoToken; ///< of SPACE
    std::string config;           ///< config.json
    std::vector<NamedFile> files; ///< of the tokenizer
};

/// Errors: those of tunedConfigText and tokenizerFiles: what cannot be written is said before the
/// work for it begins.
Result<TunedModelPlan> planTunedModel(const ModelFiles& files,
                                      const ModelConfig& config,
                                      const WeightSource& weights,
                                      TokenId maskToken);

/// Whether a training may write a file of this name into a tuned model's folder.
bool isTunedModelFile(std::string_view name);

/// Writes configuration and tokenizer into a folder, which is made, or emptied of files of an
/// earlier try. Errors: InvalidInput for a folder that holds others; Io.
Result<void> writeTunedFrame(const std::filesystem::path& folder, const TunedModelPlan& plan);

/// The same, and the weights. Returns their size in bytes. Errors: Io; those of writeTunedWeights.
Result<std::uint64_t> writeTunedModel(const std::filesystem::path& folder,
                                      const TunedModelPlan& plan,
                                      const ModelConfig& config,
                                      const WeightSource& weights,
                                      const NamedArrays& trained);

/// Writes tuning.json into a folder that is written otherwise, with the names of all its files.
/// `exit`: the layers of the exit that was judged, of LayerSkip. Errors: Io.
Result<void> writeTuningFile(const std::filesystem::path& folder,
                             const TunedModelPlan& plan,
                             const RunOrigin& origin,
                             int exit,
                             const TrainingResult& result,
                             const ModelQuality& quality);

/// Whether a folder is a tuned model and holds nothing else; for OutputPlace::isOwn. Errors: Io.
Result<bool> isTunedModel(const std::filesystem::path& folder);

/// The same, and whether its quality was not kept.
Result<bool> isRejectedModel(const std::filesystem::path& folder);

} // namespace engine
