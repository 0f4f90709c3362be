// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/layer_weights.h"
#include "engine/model/transformer.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace backend_torch {

/// Type of weights and activations.
at::ScalarType storedType(engine::Precision precision);

/// Type of norms, rotary embedding and attention: float32 where weights are bfloat16.
at::ScalarType mathType(engine::Precision precision);

/// Columns of a linear layer's input, and of its weight, are padded with zeros to a multiple of
/// this: LibTorch's float64 products with rows of an odd length depend on each row's alignment in
/// memory.
inline constexpr std::int64_t kColumnMultiple = 8;

inline std::int64_t paddedColumns(std::int64_t columns) {
    return (columns + kColumnMultiple - 1) / kColumnMultiple * kColumnMultiple;
}

/// A linear layer; the bias is an undefined tensor where there is none.
struct Linear {
    at::Tensor weight; // [outputs, padded inputs], stored type
    at::Tensor bias;   // [outputs], stored type
};

/// An MLP, or one expert of several.
struct GatedMlp {
    Linear gateUp; // outputs: 2 inner
    Linear down;   // outputs: hidden
};

/// Weights of one layer. Layers with the same input are one linear layer with stacked outputs.
/// Norms are of the math type; what the network does without is undefined.
struct LayerWeights : engine::LayerNormsOf<at::Tensor> {
    Linear queryKeyValue;       // outputs: (heads + 2 kvHeads) headDim
    Linear output;              // outputs: hidden
    Linear router;              // outputs: experts
    std::vector<GatedMlp> mlps; // one, or the experts
};

struct Weights {
    at::Tensor embedding;             // [vocab, padded hidden], stored type
    at::Tensor head;                  // [vocab, padded hidden]; the embedding itself when tied
    at::Tensor finalNorm;             // [hidden], math type
    std::vector<LayerWeights> layers; ///< [stored layers]
    std::size_t byteSize = 0;
};

/// Reads every tensor that the config calls for, block by block, into its final type.
/// Errors: NotFound, CorruptFile (shape), Numeric (a value that is not finite in this precision),
/// each naming the tensor; Cancelled; NoMemory. Throws what LibTorch's allocator throws.
engine::Result<Weights> readWeights(const engine::ModelConfig& config,
                                    const engine::WeightSource& source,
                                    const engine::TransformerOptions& options);

} // namespace backend_torch
