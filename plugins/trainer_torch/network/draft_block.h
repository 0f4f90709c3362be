// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/drafts/draft_adapter.h"
#include "plugins/trainer_torch/network/draft_weights.h"
#include "plugins/trainer_torch/network/frozen_model.h"
#include "plugins/trainer_torch/rows/pack_tensors.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace trainer_torch {

struct LayerWeights {
    at::Tensor attentionNorm, query, key, value, output;
    at::Tensor mlpNorm, gate, up, down;
};

/// The tensors of a draft network by what they do.
struct BlockWeights {
    at::Tensor input, streamNorm, tokenNorm, outNorm;
    std::vector<LayerWeights> layers;
};

/// What a draft network computes, unrolled over the depths of drafts, from differentiable
/// operations alone. Depth 1 reads the model's streams; each further depth reads the network's own
/// stream of the depth before in place of the next one of the model. A row sees the slots up to the
/// one that its chain begins at, then the earlier rows of its own chain and itself, as far as the
/// window reaches: exactly what it sees in drafting.
class DraftBlock {
public:
    /// `matrixType` is that of matrix products: the type of the weights, or bfloat16. Both guests
    /// must outlive it.
    DraftBlock(const engine::DraftSizes& sizes,
               const FrozenModel& frozen,
               at::ScalarType matrixType);

    /// Matrices in the type of products. Gradients go back to `weights`.
    BlockWeights prepare(const TensorMap& weights) const;

    /// The stream behind the last layer. Shapes: returns [depths of the pack], each [rows of the
    /// depth, hidden].
    std::vector<at::Tensor> unroll(const BlockWeights& weights, const PackTensors& pack) const;

    /// Shapes: streams [rows, hidden], returns [rows, headIds].
    at::Tensor logits(const BlockWeights& weights, const at::Tensor& streams) const;

private:
    const engine::DraftSizes& m_sizes;
    const FrozenModel& m_frozen;
    at::ScalarType m_matrixType;
    at::Tensor m_head; // [headIds, hidden] in m_matrixType
};

} // namespace trainer_torch
