// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/model/model_network.h"

#include "engine/base/to_size.h"
#include "plugins/trainer_torch/network/row_math.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/where.h>

namespace trainer_torch {

using namespace engine;

namespace {

constexpr const char* kEmbedding = "model.embed_tokens.weight";

} // namespace

ModelNetwork::ModelNetwork(ModelConfig config, TensorMap tensors)
    : m_config(std::move(config))
    , m_tensors(std::move(tensors)) {}

const at::Tensor* ModelNetwork::findIfThere(const TensorMap& trained,
                                            const std::string& name) const {
    if (const auto found = trained.find(name); found != trained.end())
        return &found->second;
    const auto found = m_tensors.find(name);
    return found != m_tensors.end() ? &found->second : nullptr;
}

const at::Tensor& ModelNetwork::find(const TensorMap& trained, const std::string& name) const {
    const at::Tensor* const found = findIfThere(trained, name);
    ENGINE_CHECK(found != nullptr, "no tensor {}", name);
    return *found;
}

at::Tensor ModelNetwork::linear(const TensorMap& trained,
                                const std::string& name,
                                const at::Tensor& in) const {
    at::Tensor out = at::linear(in, find(trained, name + ".weight"));
    if (const at::Tensor* const bias = findIfThere(trained, name + ".bias"))
        out = out + *bias;
    if (const at::Tensor* const down = findIfThere(trained, name + kLoraDown))
        out = out + at::linear(at::linear(in, *down), find(trained, name + kLoraUp)) * kLoraScale;
    return out;
}

at::Tensor
ModelNetwork::norm(const TensorMap& trained, const std::string& name, const at::Tensor& in) const {
    return normalise(in, find(trained, name + ".weight"), m_config.normEpsilon);
}

at::Tensor ModelNetwork::embed(const TensorMap& trained, const ModelRows& rows) const {
    at::Tensor stream = find(trained, kEmbedding).index_select(0, rows.tokens);
    const at::Tensor* const mask = findIfThere(trained, kMaskEmbedding);
    if (mask != nullptr && rows.isMask.defined())
        stream = at::where(rows.isMask, *mask, stream);
    return m_config.embeddingScale == 1.0 ? stream : stream * m_config.embeddingScale;
}

/// Shapes: in [rows, hidden], returns [rows, count, headDim].
at::Tensor ModelNetwork::heads(const TensorMap& trained,
                               const std::string& layer,
                               const char* which,
                               const at::Tensor& in,
                               int count) const {
    const std::string front = layer + "self_attn." + which;
    const at::Tensor made =
        linear(trained, front + "_proj", in).view({-1, count, m_config.headDim});
    const bool isValue = *which == 'v';
    return isValue || m_config.headNorm == HeadNorm::None ? made
                                                          : norm(trained, front + "_norm", made);
}

/// Shapes: queries [rows, heads, headDim], keys and values [rows, kvHeads, headDim], seen [rows,
/// rows]; returns [rows, heads * headDim].
at::Tensor ModelNetwork::attend(const at::Tensor& queries,
                                const at::Tensor& keys,
                                const at::Tensor& values,
                                const at::Tensor& seen) const {
    const std::int64_t rows = queries.size(0);
    const std::int64_t kvHeads = m_config.kvHeadCount;
    const std::int64_t group = m_config.headCount / kvHeads;
    const std::int64_t dim = m_config.headDim;
    const at::Tensor grouped = queries.view({rows, kvHeads, group, dim})
                                   .permute({1, 2, 0, 3})
                                   .reshape({kvHeads, group * rows, dim});
    const at::Tensor scores =
        at::bmm(grouped, keys.permute({1, 2, 0})).view({kvHeads, group, rows, rows}) + seen;
    const at::Tensor parts = at::softmax(scores, 3).view({kvHeads, group * rows, rows});
    return at::bmm(parts, values.permute({1, 0, 2}))
        .view({kvHeads, group, rows, dim})
        .permute({2, 0, 1, 3})
        .reshape({rows, m_config.headCount * dim});
}

at::Tensor ModelNetwork::runLayer(const TensorMap& trained,
                                  int layer,
                                  const at::Tensor& stream,
                                  const ModelRows& rows) const {
    const std::string front = fmt::format("model.layers.{}.", layer);
    const double added = m_config.residualScaleOf(layer);
    const at::Tensor in = norm(trained, front + "input_layernorm", stream);
    at::Tensor queries = heads(trained, front, "q", in, m_config.headCount);
    at::Tensor keys = heads(trained, front, "k", in, m_config.kvHeadCount);
    const at::Tensor values = heads(trained, front, "v", in, m_config.kvHeadCount);
    if (const LayerRope rope = m_config.ropeOf(layer); rope != LayerRope::None) {
        const Angles& angles = rows.angles.find(rope)->second;
        queries = rotate(queries, angles);
        keys = rotate(keys, angles);
    }
    const int window = m_config.layerWindows[toSize(layer)];
    const at::Tensor context =
        attend(queries * m_config.scoreScale(), keys, values, rows.seen.find(window)->second);
    const at::Tensor middle = stream + linear(trained, front + "self_attn.o_proj", context) * added;
    const at::Tensor mlpIn = norm(trained, front + "post_attention_layernorm", middle);
    const at::Tensor inner = at::silu(linear(trained, front + "mlp.gate_proj", mlpIn)) *
                             linear(trained, front + "mlp.up_proj", mlpIn);
    return middle + linear(trained, front + "mlp.down_proj", inner) * added;
}

at::Tensor ModelNetwork::logits(const TensorMap& trained, const at::Tensor& streams) const {
    const at::Tensor& head =
        find(trained, m_config.tiedHead ? std::string(kEmbedding) : std::string("lm_head.weight"));
    const at::Tensor found = at::linear(norm(trained, "model.norm", streams), head);
    return m_config.logitScale == 1.0 ? found : found * m_config.logitScale;
}

} // namespace trainer_torch
