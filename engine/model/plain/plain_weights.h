// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/layer_weights.h"
#include "engine/model/transformer.h"

#include <string>
#include <vector>

namespace engine::plain {

/// A linear layer: weight [outputs, inputs] row-major, bias [outputs] or empty.
template <typename Real> struct Linear {
    std::string name; ///< of the weight tensor
    std::size_t inputs = 1;
    std::vector<Real> weight;
    std::vector<Real> bias;
};

template <typename Real> using GatedMlp = GatedMlpOf<Linear<Real>>;
template <typename Real> using LayerWeights = LayerWeightsOf<std::vector<Real>, Linear<Real>>;

/// All weights of a network in the backend's own type.
template <typename Real> struct Weights {
    Linear<Real> embedding;                 // [vocab, hidden]
    std::vector<LayerWeights<Real>> layers; ///< [stored layers]
    std::vector<Real> finalNorm;            // [hidden]
    Linear<Real> head;                      // empty weight when tied to the embedding
    Linear<Real> draftInput;                // of a network that drafts; else empty
    std::vector<Real> streamNorm;           // likewise [hidden]
    std::vector<Real> tokenNorm;            // likewise [hidden]

    const Linear<Real>& outputHead() const { return head.weight.empty() ? embedding : head; }

    std::size_t byteSize() const;
};

/// Reads every tensor that the config calls for. Errors: see makePlainTransformer.
template <typename Real>
Result<Weights<Real>> readWeights(const ModelConfig& config,
                                  const WeightSource& source,
                                  const TransformerOptions& options);

} // namespace engine::plain
