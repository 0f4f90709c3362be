// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/model_config.h"
#include "engine/loading/weight_source.h"

#include <string>

namespace engine {

/// A name for one model: 32 hexadecimal digits over the numbers of its configuration, the names,
/// types and shapes of all tensors, and samples of up to 64 KiB from the first, the last and two
/// tensors between of every kind (one kind: the same name but for the layer's number). A base
/// model, its chat variant and its quantised copies differ; the same files always give the same.
/// It tells models apart, it does not prove that a file is whole.
/// Reads a few MB, from 256 places at most. Errors: Io or CorruptFile when the file cannot give
/// them.
Result<std::string> modelFingerprint(const ModelConfig& config, const WeightSource& weights);

} // namespace engine
