// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"

#include <span>
#include <vector>

namespace engine {

/// For backends whose keys are in host memory: how much each head takes of each key that the row
/// sees, [heads, keys] in the order of AttentionLayout::forEachKey, within the layer's window and
/// behind its soft-cap. The keys of this pass must be stored. Shapes: query [heads, headDim],
/// turned and scaled as scores are. Thread: engine.
std::vector<double> attentionWeights(const ModelConfig& config,
                                     HostKvStorage& storage,
                                     const AttentionLayout& layout,
                                     const AttentionPlace& place,
                                     std::span<const double> query);

} // namespace engine
