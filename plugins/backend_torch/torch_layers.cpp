// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_torch/torch_layers.h"

#include "engine/base/to_size.h"
#include "engine/model/cache/attention_weights.h"
#include "engine/model/expert_choice.h"

#include <ATen/Parallel.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

namespace backend_torch {

using namespace engine;

namespace {

/// Rows a thread takes at least: less than that is not worth waking it.
constexpr std::int64_t kRowsPerTask = 8;

template <typename Work> void forEachRow(std::int64_t rows, const Work& work) {
    at::parallel_for(0, rows, kRowsPerTask, [&work](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row)
            work(row);
    });
}

std::int64_t queryWidth(const ModelConfig& config) {
    return std::int64_t{config.headCount} * config.headDim;
}

std::int64_t keyWidth(const ModelConfig& config) {
    return std::int64_t{config.kvHeadCount} * config.headDim;
}

} // namespace

at::Tensor applyLinear(const Linear& linear, const at::Tensor& in) {
    return linear.bias.defined() ? at::linear(in, linear.weight, linear.bias)
                                 : at::linear(in, linear.weight);
}

template <typename Stored>
LayerRunner<Stored>::LayerRunner(const ModelConfig& config,
                                 const Weights& weights,
                                 int contextLength)
    : m_config(config)
    , m_weights(weights) {
    for (const LayerRope rope : {LayerRope::Model, LayerRope::Window, LayerRope::None})
        m_rotary.emplace_back(rotaryFrequencies(config, rope, contextLength),
                              config.ropeScaling.attentionFactor);
}

template <typename Stored>
Pass LayerRunner<Stored>::begin(const AttentionLayout& layout, HostKvStorage& storage) {
    const std::int64_t rows = layout.rowCount();
    const std::int64_t padded = paddedRows(rows);
    const std::int64_t group = std::max(2, m_config.headCount / m_config.kvHeadCount);
    const auto stored = m_weights.embedding.options();
    const auto math = m_weights.finalNorm.options();
    for (RotaryTable<Math>& table : m_rotary)
        for (int row = 0; row < layout.rowCount(); ++row)
            table.extendTo(layout.position(row) + 1);
    return {layout,
            storage,
            at::zeros({padded, m_config.hiddenSize}, stored),
            at::zeros({padded, paddedColumns(m_config.hiddenSize)}, stored),
            at::zeros({rows, m_config.kvHeadCount, group, m_config.headDim}, math),
            at::zeros({padded, paddedColumns(queryWidth(m_config))}, stored),
            at::zeros({padded, paddedColumns(m_config.mlpSize)}, stored)};
}

template <typename Stored> void LayerRunner<Stored>::runAttention(Pass& pass, int layer) {
    const LayerWeights& weights = weightsOf(layer);
    normalise(pass.stream, weights.attentionNorm, pass.rowCount(), pass.normed);
    look(pass, layer, "input_layernorm", pass.normed);
    const at::Tensor heads = applyLinear(weights.queryKeyValue, pass.normed);
    const std::int64_t query = queryWidth(m_config);
    const std::int64_t key = keyWidth(m_config);
    look(pass, layer, "self_attn.q_proj", heads.narrow(1, 0, query));
    look(pass, layer, "self_attn.k_proj", heads.narrow(1, query, key));
    look(pass, layer, "self_attn.v_proj", heads.narrow(1, query + key, key));
    normaliseHeads(pass, layer, heads);
    storeHeads(pass, layer, heads);
    attend(pass, layer);
    if (pass.place && pass.place->layer == layer)
        tellAttention(pass);
    look(pass, layer, "self_attn.v_proj", pass.context);
    const at::Tensor out = applyLinear(weights.output, pass.context);
    look(pass, layer, "self_attn.o_proj", out);
    addToStream(pass, layer, weights.attentionPostNorm, out);
    look(pass, layer, "self_attn.o_proj", pass.stream);
}

template <typename Stored> void LayerRunner<Stored>::runMlp(Pass& pass, int layer) {
    const LayerWeights& weights = weightsOf(layer);
    const std::int64_t width = m_config.mlpSize;
    const int sublayer = m_config.layerCount + layer;
    normalise(pass.stream, weights.mlpNorm, pass.rowCount(), pass.normed);
    look(pass, layer, "post_attention_layernorm", pass.normed);
    if (m_config.hasExperts(layer)) {
        addToStream(pass, sublayer, weights.mlpPostNorm, runExperts(pass, layer));
        look(pass, layer, "mlp.experts.0.down_proj", pass.stream);
        return;
    }
    const GatedMlp& mlp = weights.mlps.front();
    const at::Tensor gateUp = applyLinear(mlp.gateUp, pass.normed);
    look(pass, layer, "mlp.gate_proj", gateUp.narrow(1, 0, width));
    look(pass, layer, "mlp.up_proj", gateUp.narrow(1, width, width));
    gate(gateUp, pass.rowCount(), pass.inner);
    look(pass, layer, "mlp.up_proj", pass.inner);
    const at::Tensor out = applyLinear(mlp.down, pass.inner);
    look(pass, layer, "mlp.down_proj", out);
    addToStream(pass, sublayer, weights.mlpPostNorm, out);
    look(pass, layer, "mlp.down_proj", pass.stream);
}

/// What a branch does behind its last linear layer; then its output is added.
template <typename Stored>
void LayerRunner<Stored>::addToStream(Pass& pass,
                                      int sublayer,
                                      const at::Tensor& postNorm,
                                      at::Tensor out) {
    if (postNorm.defined())
        normalise(out, postNorm, pass.rowCount(), out);
    const double scale = m_config.residualScaleOf(sublayer % m_config.layerCount);
    if (scale != 1.0)
        out.mul_(scale);
    measureInfluence(pass, sublayer, out);
    pass.stream.add_(out);
}

/// The sum of each row's experts, each times its weight, in the order of the experts. Rows that
/// chose the same expert run together.
template <typename Stored> at::Tensor LayerRunner<Stored>::runExperts(Pass& pass, int layer) {
    const LayerWeights& weights = weightsOf(layer);
    const at::Tensor logits = applyLinear(weights.router, pass.normed);
    look(pass, layer, "mlp.gate", logits);
    const std::size_t hidden = toSize(m_config.hiddenSize);
    std::vector<std::vector<ChosenExpert<Math>>> chosen(weights.mlps.size()); // `expert`: the row
    for (int row = 0; row < pass.rowCount(); ++row) {
        const Stored* stored = logits.const_data_ptr<Stored>() + row * logits.size(1);
        const std::vector<Math> values(stored, stored + logits.size(1));
        for (const auto& [expert, weight] : chooseExperts<Math>(values, m_config.experts))
            chosen[toSize(expert)].push_back({row, weight});
    }
    std::vector<Math> sums(toSize(pass.rowCount()) * hidden);
    for (std::size_t expert = 0; expert < chosen.size(); ++expert) {
        const auto count = static_cast<std::int64_t>(chosen[expert].size());
        if (count == 0)
            continue;
        const GatedMlp& mlp = weights.mlps[expert];
        at::Tensor in = at::zeros({paddedRows(count), pass.normed.size(1)}, pass.normed.options());
        at::Tensor inner = at::zeros({paddedRows(count), paddedColumns(m_config.experts.size)},
                                     pass.normed.options());
        for (std::int64_t i = 0; i < count; ++i)
            in.select(0, i).copy_(pass.normed.select(0, chosen[expert][toSize(i)].expert));
        gate(applyLinear(mlp.gateUp, in), count, inner);
        const at::Tensor out = applyLinear(mlp.down, inner);
        for (std::int64_t i = 0; i < count; ++i) {
            const auto& [row, weight] = chosen[expert][toSize(i)];
            const Stored* from = out.const_data_ptr<Stored>() + i * out.size(1);
            for (std::size_t at = 0; at < hidden; ++at)
                sums[toSize(row) * hidden + at] += weight * static_cast<Math>(from[at]);
        }
    }
    at::Tensor out = at::zeros_like(pass.stream);
    Stored* to = out.mutable_data_ptr<Stored>();
    for (const Math sum : sums)
        *to++ = static_cast<Stored>(sum);
    return out;
}

/// Notes what a sublayer's output is to the stream that it is about to be added to.
template <typename Stored>
void LayerRunner<Stored>::measureInfluence(Pass& pass, int sublayer, const at::Tensor& out) {
    if (pass.influence.empty())
        return;
    const std::size_t width = toSize(m_config.hiddenSize);
    const Stored* added = out.const_data_ptr<Stored>();
    const Stored* stream = pass.stream.const_data_ptr<Stored>();
    for (std::size_t row = 0; row < toSize(pass.rowCount()); ++row)
        pass.influence[toSize(sublayer)] +=
            influenceOfRow(added + row * width, stream + row * width, width);
}

template <typename Stored>
void LayerRunner<Stored>::normalise(const at::Tensor& in,
                                    const at::Tensor& weight,
                                    std::int64_t rows,
                                    at::Tensor& out) {
    const std::int64_t width = m_config.hiddenSize;
    if (!weight.defined()) { // no norm stands there
        out.narrow(0, 0, rows).narrow(1, 0, width).copy_(in.narrow(0, 0, rows).narrow(1, 0, width));
        return;
    }
    const Stored* from = in.const_data_ptr<Stored>();
    const Math* factors = weight.const_data_ptr<Math>();
    Stored* to = out.mutable_data_ptr<Stored>();
    forEachRow(rows, [&](std::int64_t row) {
        normaliseRow(from + row * in.size(1),
                     factors,
                     m_config.normEpsilon,
                     toSize(width),
                     to + row * out.size(1));
    });
}

/// Norms of queries and keys, of each head or of all together, before they are turned.
template <typename Stored>
void LayerRunner<Stored>::normaliseHeads(const Pass& pass,
                                         int layer,
                                         const at::Tensor& queryKeyValue) {
    const LayerWeights& weights = weightsOf(layer);
    if (!weights.queryNorm.defined())
        return;
    Stored* heads = queryKeyValue.mutable_data_ptr<Stored>();
    const auto normaliseEach = [&](const at::Tensor& weight, std::int64_t total, Stored* row) {
        const std::int64_t width = weight.size(0);
        for (std::int64_t at = 0; at < total; at += width)
            normaliseRow(row + at,
                         weight.const_data_ptr<Math>(),
                         m_config.normEpsilon,
                         toSize(width),
                         row + at);
    };
    forEachRow(pass.rowCount(), [&](std::int64_t row) {
        Stored* queries = heads + row * queryKeyValue.size(1);
        normaliseEach(weights.queryNorm, queryWidth(m_config), queries);
        normaliseEach(weights.keyNorm, keyWidth(m_config), queries + queryWidth(m_config));
    });
}

/// Turns queries and keys by their positions; queries go to the pass, scaled, keys and values to
/// the cache. Shapes: queryKeyValue [padded, (heads + 2 kvHeads) headDim].
template <typename Stored>
void LayerRunner<Stored>::storeHeads(Pass& pass, int layer, const at::Tensor& queryKeyValue) {
    const std::int64_t dim = m_config.headDim;
    const std::int64_t groupSize = m_config.headCount / m_config.kvHeadCount;
    const std::int64_t paddedGroup = pass.queries.size(2);
    const std::int64_t capacity = pass.storage.capacity();
    const std::int64_t rowWidth = queryKeyValue.size(1);
    const Math scale = m_config.attentionScale > 0.0 ? static_cast<Math>(m_config.attentionScale)
                                                     : Math(1) / std::sqrt(static_cast<Math>(dim));
    const RotaryTable<Math>& rotary = m_rotary[static_cast<std::size_t>(m_config.ropeOf(layer))];
    const Stored* heads = queryKeyValue.const_data_ptr<Stored>();
    Math* queries = pass.queries.mutable_data_ptr<Math>();
    auto* keys = reinterpret_cast<Stored*>(pass.storage.keys(layer));
    auto* values = reinterpret_cast<Stored*>(pass.storage.values(layer));
    forEachRow(pass.rowCount(), [&](std::int64_t row) {
        const Position position = pass.layout.position(static_cast<int>(row));
        const Math* cosines = rotary.cosines(position);
        const Math* sines = rotary.sines(position);
        const auto rotate = [&](const Stored* in, Math factor, auto* out) {
            rotateHead(in, cosines, sines, rotary.width(), toSize(dim), factor, out);
        };
        const Stored* in = heads + row * rowWidth;
        const std::int64_t slot = pass.layout.firstSlot() + row;
        for (std::int64_t head = 0; head < m_config.headCount; ++head, in += dim) {
            const std::int64_t group = row * m_config.kvHeadCount + head / groupSize;
            rotate(in, scale, queries + (group * paddedGroup + head % groupSize) * dim);
        }
        for (std::int64_t head = 0; head < m_config.kvHeadCount; ++head, in += dim)
            rotate(in, Math(1), keys + (head * capacity + slot) * dim);
        for (std::int64_t head = 0; head < m_config.kvHeadCount; ++head, in += dim)
            std::copy_n(in, dim, values + (head * capacity + slot) * dim);
    });
}

template <typename Stored> void LayerRunner<Stored>::attend(Pass& pass, int layer) {
    const int window = m_config.layerWindows[toSize(layer)];
    auto known = pass.keysByWindow.find(window);
    if (known == pass.keysByWindow.end())
        known = pass.keysByWindow.emplace(window, visibleKeys(pass.layout, window)).first;
    const std::vector<RowKeys>& keys = known->second;
    LayerAttention attention(pass.storage, layer, keys);
    const std::int64_t width = pass.context.size(1);
    const std::int64_t groupWidth = queryWidth(m_config) / m_config.kvHeadCount;
    const std::int64_t paddedWidth = pass.queries.size(2) * m_config.headDim;
    for (int row = 0; row < pass.rowCount(); ++row) {
        // found [kvHeads, max(group, 2), headDim]: only the front of each group is wanted
        const at::Tensor found =
            attention
                .attend(keys[toSize(row)], pass.queries.select(0, row), m_config.attentionSoftCap)
                .contiguous();
        const Math* from = found.const_data_ptr<Math>();
        Stored* to = pass.context.mutable_data_ptr<Stored>() + row * width;
        for (std::int64_t head = 0; head < m_config.kvHeadCount; ++head)
            for (std::int64_t i = 0; i < groupWidth; ++i)
                to[head * groupWidth + i] = static_cast<Stored>(from[head * paddedWidth + i]);
    }
}

/// Notes the weights of attention at the place where they are wanted.
template <typename Stored> void LayerRunner<Stored>::tellAttention(Pass& pass) const {
    const std::int64_t group = m_config.headCount / m_config.kvHeadCount;
    const at::Tensor scaled =
        pass.queries.select(0, pass.place->row).narrow(1, 0, group).contiguous();
    const Math* numbers = scaled.const_data_ptr<Math>();
    pass.attention = attentionWeights(m_config,
                                      pass.storage,
                                      pass.layout,
                                      *pass.place,
                                      std::vector<double>(numbers, numbers + scaled.numel()));
}

/// Shapes: gateUp [at least rows, 2 width], inner [at least rows, at least width].
template <typename Stored>
void LayerRunner<Stored>::gate(const at::Tensor& gateUp, std::int64_t rows, at::Tensor& inner) {
    const std::int64_t width = gateUp.size(1) / 2;
    const Stored* from = gateUp.const_data_ptr<Stored>();
    Stored* to = inner.mutable_data_ptr<Stored>();
    const bool isSilu = m_config.activation == Activation::Silu;
    forEachRow(rows, [&](std::int64_t row) {
        const Stored* in = from + row * 2 * width;
        Stored* out = to + row * inner.size(1);
        if (isSilu)
            siluRow(in, in + width, toSize(width), out);
        else
            geluRow(in, in + width, toSize(width), out);
    });
}

/// Notes the first row of a stage that is not finite, if that is what the pass is for.
template <typename Stored>
void LayerRunner<Stored>::look(Pass& pass,
                               int layer,
                               std::string_view tensor,
                               const at::Tensor& values) {
    if (!pass.isSearching || pass.error)
        return;
    const Stored* rows = values.const_data_ptr<Stored>();
    for (int row = 0; row < pass.rowCount(); ++row)
        if (!isFiniteRow(rows + row * values.stride(0), toSize(values.size(1)))) {
            const bool isMlp = tensor.starts_with("mlp") || tensor.starts_with("post");
            pass.error = nonFiniteError(
                fmt::format("layer {}'s {}", layer, isMlp ? "MLP" : "attention"),
                fmt::format("model.layers.{}.{}.weight", m_config.storedLayer(layer), tensor),
                pass.layout.position(row));
            return;
        }
}

template class LayerRunner<float>;
template class LayerRunner<double>;
template class LayerRunner<c10::BFloat16>;

} // namespace backend_torch
