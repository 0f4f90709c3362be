// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"
#include "engine/loading/weight_source.h"
#include "engine/tuning/trainer.h"

#include <filesystem>

namespace engine {

/// The type that a tuned model's tensors are stored in: that of the model's own embedding, or BF16
/// where that is of a narrower form.
TensorType tunedType(const WeightSource& weights);

/// Writes model.safetensors of a tuned model: the model's tensors by their network's names, with
/// what was trained in their place (Trainer::result()) or merged into them (LoRA, the mask's row).
/// One tensor is in memory at a time. Returns the size in bytes. Arrays of other names or sizes
/// than the model's are a bug (ENGINE_CHECK). Errors: those of reading and of SafetensorsWriter.
Result<std::uint64_t> writeTunedWeights(const std::filesystem::path& file,
                                        const ModelConfig& config,
                                        const WeightSource& weights,
                                        const NamedArrays& trained,
                                        TokenId maskToken);

} // namespace engine
