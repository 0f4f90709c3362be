// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"
#include "plugins/backend_torch/rotary_table.h"
#include "plugins/backend_torch/row_math.h"
#include "plugins/backend_torch/torch_attention.h"
#include "plugins/backend_torch/torch_weights.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace backend_torch {

/// Rows of a linear layer's input are padded to a multiple of this. LibTorch's products of 1 to 3
/// rows sum in another order than those of more; multiples of 8 agree bit for bit, so that a row's
/// numbers do not depend on how many rows run with it.
inline constexpr std::int64_t kRowMultiple = 8;

/// `rows` raised to a multiple of kRowMultiple.
inline std::int64_t paddedRows(std::int64_t rows) {
    return (rows + kRowMultiple - 1) / kRowMultiple * kRowMultiple;
}

/// in [rows, padded inputs] to [rows, outputs]; `rows` must be a multiple of kRowMultiple.
at::Tensor applyLinear(const Linear& linear, const at::Tensor& in);

/// What one pass works on. Tensors [padded, ...] have the pass's rows in front; what stands in the
/// rows behind is finite and read by nobody.
struct Pass {
    const engine::AttentionLayout& layout;
    engine::HostKvStorage& storage;
    at::Tensor stream;  // [padded, hidden], the residual stream
    at::Tensor normed;  // [padded, padded hidden], input of a sublayer
    at::Tensor queries; // [rows, kvHeads, max(group, 2), headDim], math type
    at::Tensor context; // [padded, padded heads headDim], what attention found
    at::Tensor inner;   // [padded, padded mlp], a dense MLP between its matrices
    std::map<int, std::vector<RowKeys>> keysByWindow = {};
    std::vector<double> influence = {}; ///< [2 * layers] sums over rows; empty = not wanted
    std::optional<engine::AttentionPlace> place = {}; ///< where the weights of attention are wanted
    std::vector<double> attention = {};               ///< [heads, keys] the weights there
    bool isSearching = false; ///< look at every stage for numbers that are not finite
    std::optional<engine::Error> error = {}; ///< the first such stage found

    int rowCount() const { return layout.rowCount(); }
};

/// Runs attention and MLP sublayers on a pass, adding what they give to its stream.
template <typename Stored> class LayerRunner {
public:
    using Math = MathOf<Stored>;

    /// `contextLength` as in rotaryFrequencies.
    LayerRunner(const engine::ModelConfig& config, const Weights& weights, int contextLength);

    /// A pass whose stream is zero.
    Pass begin(const engine::AttentionLayout& layout, engine::HostKvStorage& storage);

    void runAttention(Pass& pass, int layer);
    void runMlp(Pass& pass, int layer);

    /// out = rows of in, normalised; may be the same. Shapes: in, out [at least rows, at least
    /// hidden], contiguous.
    void
    normalise(const at::Tensor& in, const at::Tensor& weight, std::int64_t rows, at::Tensor& out);

private:
    void normaliseHeads(const Pass& pass, int layer, const at::Tensor& queryKeyValue);
    void storeHeads(Pass& pass, int layer, const at::Tensor& queryKeyValue);
    void attend(Pass& pass, int layer);
    void tellAttention(Pass& pass) const;
    void gate(const at::Tensor& gateUp, std::int64_t rows, at::Tensor& inner);
    at::Tensor runExperts(Pass& pass, int layer);
    void addToStream(Pass& pass, int sublayer, const at::Tensor& postNorm, at::Tensor out);
    void measureInfluence(Pass& pass, int sublayer, const at::Tensor& out);
    void look(Pass& pass, int layer, std::string_view tensor, const at::Tensor& values);

    const LayerWeights& weightsOf(int layer) const {
        return m_weights.layers[static_cast<std::size_t>(m_config.storedLayer(layer))];
    }

    const engine::ModelConfig& m_config;
    const Weights& m_weights;
    std::vector<RotaryTable<Math>> m_rotary; // by LayerRope
};

} // namespace backend_torch
