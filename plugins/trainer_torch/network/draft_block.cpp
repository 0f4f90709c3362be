// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/network/draft_block.h"

#include "engine/base/to_size.h"
#include "plugins/trainer_torch/network/row_math.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>

#include <algorithm>
#include <cmath>

namespace trainer_torch {

using namespace engine;

namespace {

/// Keys and values of one layer.
struct LayerMemory {
    at::Tensor keys, values;                        // [kvHeads, slots, headDim]
    std::vector<at::Tensor> chainKeys, chainValues; // depth 2 first, [kvHeads, 1, rows, headDim]
};

/// The passes over one pack.
class Unroll {
public:
    Unroll(const DraftSizes& sizes, const BlockWeights& weights, const PackTensors& pack)
        : m_sizes(sizes)
        , m_weights(weights)
        , m_pack(pack)
        , m_memory(weights.layers.size()) {}

    /// All slots leave keys and values; behind the last layer only rows where chains begin matter.
    at::Tensor runFirst() {
        at::Tensor stream = enter(m_pack.streams, m_pack.embedding);
        for (std::size_t layer = 0; layer < m_memory.size(); ++layer) {
            const LayerWeights& weights = m_weights.layers[layer];
            at::Tensor normed = normalise(stream, weights.attentionNorm, m_sizes.normEpsilon);
            m_memory[layer].keys = keysOf(weights, normed, m_pack.angles).contiguous();
            m_memory[layer].values = valuesOf(weights, normed).contiguous();
            const bool isLast = layer + 1 == m_memory.size();
            if (isLast) {
                stream = stream.index_select(0, m_pack.chainRows);
                normed = normed.index_select(0, m_pack.chainRows);
            }
            const Rows rows = isLast
                                  ? Rows{m_pack.depths.front().angles, m_pack.depths.front().mask}
                                  : Rows{m_pack.angles, m_pack.mask};
            stream = runLayer(layer, stream, normed, rows, 0);
        }
        return stream;
    }

    /// Shapes: before [rows of the depth before, hidden].
    at::Tensor runNext(int depth, const at::Tensor& before) {
        const DepthTensors& rows = m_pack.depths[toSize(depth - 1)];
        const std::int64_t count = rows.embedding.size(0);
        at::Tensor stream = enter(before.narrow(0, 0, count), rows.embedding);
        for (std::size_t layer = 0; layer < m_memory.size(); ++layer) {
            const LayerWeights& weights = m_weights.layers[layer];
            const at::Tensor normed = normalise(stream, weights.attentionNorm, m_sizes.normEpsilon);
            LayerMemory& memory = m_memory[layer];
            memory.chainKeys.push_back(keysOf(weights, normed, rows.angles).unsqueeze(1));
            memory.chainValues.push_back(valuesOf(weights, normed).unsqueeze(1));
            // The key of depth j stands at j - 2, and is seen if depth - j < window.
            const int firstOwn = m_sizes.window > 0 ? std::max(0, depth - m_sizes.window - 1) : 0;
            stream = runLayer(layer, stream, normed, {rows.angles, rows.mask}, firstOwn);
        }
        return stream;
    }

private:
    struct Rows {
        const Angles& angles;
        const at::Tensor& mask;
    };

    at::Tensor enter(const at::Tensor& streams, const at::Tensor& embedding) const {
        return product(at::cat({normalise(streams, m_weights.streamNorm, m_sizes.normEpsilon),
                                normalise(embedding, m_weights.tokenNorm, m_sizes.normEpsilon)},
                               1),
                       m_weights.input);
    }

    /// Shapes: normed [rows, hidden], returns [kvHeads, rows, headDim].
    at::Tensor
    keysOf(const LayerWeights& weights, const at::Tensor& normed, const Angles& angles) const {
        const at::Tensor heads =
            product(normed, weights.key).view({-1, m_sizes.kvHeadCount, m_sizes.headDim});
        return rotate(heads, angles).permute({1, 0, 2});
    }

    at::Tensor valuesOf(const LayerWeights& weights, const at::Tensor& normed) const {
        return product(normed, weights.value)
            .view({-1, m_sizes.kvHeadCount, m_sizes.headDim})
            .permute({1, 0, 2});
    }

    at::Tensor runLayer(std::size_t layer,
                        const at::Tensor& before,
                        const at::Tensor& normed,
                        const Rows& rows,
                        int firstOwn) const {
        const LayerWeights& weights = m_weights.layers[layer];
        const double scale = 1.0 / std::sqrt(static_cast<double>(m_sizes.headDim));
        const at::Tensor heads =
            product(normed, weights.query).view({-1, m_sizes.headCount, m_sizes.headDim});
        const at::Tensor context =
            attend(rotate(heads, rows.angles) * scale, m_memory[layer], rows.mask, firstOwn);
        const at::Tensor stream = before + product(context, weights.output);
        const at::Tensor in = normalise(stream, weights.mlpNorm, m_sizes.normEpsilon);
        const at::Tensor inner = at::silu(product(in, weights.gate)) * product(in, weights.up);
        return stream + product(inner, weights.down);
    }

    /// Slots that are seen are one matrix of scores; each row of its own chain is a column more.
    /// Shapes: queries [rows, heads, headDim], mask [rows, slots], returns [rows, heads headDim].
    at::Tensor attend(const at::Tensor& queries,
                      const LayerMemory& memory,
                      const at::Tensor& mask,
                      int firstOwn) const {
        const std::int64_t count = queries.size(0);
        const std::int64_t slots = mask.size(1);
        const std::int64_t kvHeads = m_sizes.kvHeadCount;
        const std::int64_t group = m_sizes.headCount / kvHeads;
        const std::int64_t dim = m_sizes.headDim;
        const at::Tensor grouped =
            queries.view({count, kvHeads, group, dim}).permute({1, 2, 0, 3}).contiguous();
        std::vector<at::Tensor> scores = {
            at::bmm(grouped.view({kvHeads, group * count, dim}), memory.keys.transpose(1, 2))
                .view({kvHeads, group, count, slots}) +
            mask};
        for (std::size_t own = toSize(firstOwn); own < memory.chainKeys.size(); ++own)
            scores.push_back((grouped * memory.chainKeys[own].narrow(2, 0, count)).sum(3, true));
        const at::Tensor weights = // [kvHeads, group, rows, slots + own]
            at::softmax(scores.size() > 1 ? at::cat(scores, 3) : scores.front(), 3);
        at::Tensor context =
            at::bmm(weights.narrow(3, 0, slots).reshape({kvHeads, group * count, slots}),
                    memory.values)
                .view({kvHeads, group, count, dim});
        for (std::size_t own = toSize(firstOwn); own < memory.chainValues.size(); ++own) {
            const std::int64_t column = slots + static_cast<std::int64_t>(own) - firstOwn;
            context = context +
                      weights.narrow(3, column, 1) * memory.chainValues[own].narrow(2, 0, count);
        }
        return context.permute({2, 0, 1, 3}).reshape({count, m_sizes.headCount * dim});
    }

    const DraftSizes& m_sizes;
    const BlockWeights& m_weights;
    const PackTensors& m_pack;
    std::vector<LayerMemory> m_memory; // [layers]
};

} // namespace

DraftBlock::DraftBlock(const DraftSizes& sizes,
                       const FrozenModel& frozen,
                       at::ScalarType matrixType)
    : m_sizes(sizes)
    , m_frozen(frozen)
    , m_matrixType(matrixType)
    , m_head(frozen.head.to(matrixType)) {}

BlockWeights DraftBlock::prepare(const TensorMap& weights) const {
    const auto find = [&](const std::string& name) -> const at::Tensor& {
        const auto found = weights.find(name);
        ENGINE_CHECK(found != weights.end(), "no weight {}", name);
        return found->second;
    };
    const auto matrix = [&](const std::string& name) { return find(name).to(m_matrixType); };
    BlockWeights made;
    made.input = matrix("in.weight");
    made.streamNorm = find("norm.stream");
    made.tokenNorm = find("norm.token");
    made.outNorm = find("norm.out");
    for (int layer = 0; layer < m_sizes.layerCount; ++layer) {
        const std::string front = fmt::format("layer.{}.", layer);
        made.layers.push_back({find(front + "norm.attn"),
                               matrix(front + "attn.q"),
                               matrix(front + "attn.k"),
                               matrix(front + "attn.v"),
                               matrix(front + "attn.o"),
                               find(front + "norm.mlp"),
                               matrix(front + "mlp.gate"),
                               matrix(front + "mlp.up"),
                               matrix(front + "mlp.down")});
    }
    return made;
}

std::vector<at::Tensor> DraftBlock::unroll(const BlockWeights& weights,
                                           const PackTensors& pack) const {
    if (pack.depths.empty())
        return {};
    Unroll unroll(m_sizes, weights, pack);
    std::vector<at::Tensor> streams = {unroll.runFirst()};
    for (std::size_t depth = 2; depth <= pack.depths.size(); ++depth)
        streams.push_back(unroll.runNext(static_cast<int>(depth), streams.back()));
    return streams;
}

at::Tensor DraftBlock::logits(const BlockWeights& weights, const at::Tensor& streams) const {
    at::Tensor found = product(normalise(streams, weights.outNorm, m_sizes.normEpsilon), m_head);
    if (m_frozen.logitScale != 1.0)
        found = found * m_frozen.logitScale;
    if (m_frozen.logitSoftCap > 0.0)
        found = (found / m_frozen.logitSoftCap).tanh() * m_frozen.logitSoftCap;
    return found;
}

} // namespace trainer_torch
