// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/network/network_tensors.h"
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

/// An MLP, or one expert of several.
template <typename Real> struct GatedMlp { Linear<Real> gate, up, down; };

/// What the network does without is empty.
template <typename Real> struct LayerWeights {
    std::vector<Real> attentionNorm; // [hidden]
    Linear<Real> query, key, value, output;
    std::vector<Real> queryNorm, keyNorm; // [headDim] or [heads * headDim]
    std::vector<Real> attentionPostNorm;  // [hidden]
    std::vector<Real> mlpNorm;            // [hidden]
    Linear<Real> router;                  // [experts, hidden]
    std::vector<GatedMlp<Real>> mlps;     // one, or the experts
    std::vector<Real> mlpPostNorm;        // [hidden]

    /// Of a role that is a norm of a layer.
    std::vector<Real>& norm(TensorRole role);
    /// Of a role that is a linear layer; `expert` -1 where there is but one.
    Linear<Real>& linear(TensorRole role, int expert);
};

/// All weights of a network in the backend's own type.
template <typename Real> struct Weights {
    Linear<Real> embedding;                 // [vocab, hidden]
    std::vector<LayerWeights<Real>> layers; ///< [stored layers]
    std::vector<Real> finalNorm;            // [hidden]
    Linear<Real> head;                      // empty weight when tied to the embedding

    const Linear<Real>& outputHead() const { return head.weight.empty() ? embedding : head; }

    std::size_t byteSize() const;
};

/// Reads every tensor that the config calls for. Errors: see makePlainTransformer.
template <typename Real>
Result<Weights<Real>> readWeights(const ModelConfig& config,
                                  const WeightSource& source,
                                  const TransformerOptions& options);

} // namespace engine::plain
