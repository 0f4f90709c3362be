// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/plain/plain_backend.h"
#include "tests/support/models/tiny_model.h"
#include "tests/support/value_of.h"

#include <memory>

namespace support {

/// The reference of exactness, in double precision. Fails by exception.
inline std::unique_ptr<engine::Transformer> plainModel(const engine::ModelConfig& config,
                                                       const engine::WeightSource& weights) {
    return valueOf(
        engine::makePlainTransformer(config, weights, {.precision = engine::Precision::F64}));
}

/// A tiny model in double precision with enough layers to skip some.
inline std::unique_ptr<engine::Transformer> layeredModel(int layers, unsigned seed) {
    const engine::ModelConfig config = layeredConfig(layers);
    return plainModel(config, randomWeights(config, seed));
}

/// Layers that hardly matter, [first, end), so that drafts without them are often right.
struct QuietLayers {
    int first = 0;
    int end = 0;
    float part = 1.0F; ///< see quietenLayer()
};

inline std::unique_ptr<engine::Transformer>
quietModel(int layers, unsigned seed, const QuietLayers& quiet) {
    const engine::ModelConfig config = layeredConfig(layers);
    MemoryWeights weights = randomWeights(config, seed);
    for (int layer = quiet.first; layer < quiet.end; ++layer)
        quietenLayer(weights, layer, quiet.part);
    return plainModel(config, weights);
}

} // namespace support
