// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cpu/cpu_transformer.h"

#include <algorithm>
#include <cmath>

namespace engine::cpu {

namespace {

std::size_t toSize(int value) { return static_cast<std::size_t>(value); }

KvElement elementOf(KvType type) {
    switch (type) {
    case KvType::BF16:
        return KvElement::BF16;
    case KvType::F16:
        return KvElement::F16;
    default:
        return KvElement::F32;
    }
}

std::size_t elementBytes(KvType type) { return type == KvType::F32 ? 4 : 2; }

} // namespace

/// Angles of all rows; those of queries carry the scores' scale 1 / sqrt(headDim) along.
void CpuTransformer::prepareAngles(const AttentionLayout& layout) {
    const double scale = 1.0 / std::sqrt(static_cast<double>(m_config.headDim));
    for (auto* table :
         {&m_space.cosines, &m_space.sines, &m_space.queryCosines, &m_space.querySines})
        table->clear();
    for (int row = 0; row < layout.rowCount(); ++row)
        for (const double frequency : m_frequencies) {
            const double angle = frequency * layout.position(row);
            const double cosine = std::cos(angle);
            const double sine = std::sin(angle);
            m_space.cosines.push_back(static_cast<float>(cosine));
            m_space.sines.push_back(static_cast<float>(sine));
            m_space.queryCosines.push_back(static_cast<float>(cosine * scale));
            m_space.querySines.push_back(static_cast<float>(sine * scale));
        }
}

/// The slots of each row's own keys in the order of their positions, neighbours together.
void CpuTransformer::prepareRuns(const AttentionLayout& layout, int window) {
    if (m_space.runsWindow == window)
        return;
    m_space.runsWindow = window;
    m_space.runs.clear();
    m_space.runEnds.clear();
    for (int row = 0; row < layout.rowCount(); ++row) {
        const std::size_t begin = m_space.runs.size();
        const Position first =
            window > 0 ? std::max<Position>(layout.position(row) - window + 1, 0) : 0;
        if (first < layout.prefixLength(row))
            m_space.runs.push_back({first, layout.prefixLength(row) - first});
        for (const VisibleSlot& seen : layout.path(row)) {
            if (seen.position < first)
                continue;
            const bool isNext = m_space.runs.size() > begin &&
                                m_space.runs.back().slot + m_space.runs.back().count == seen.slot;
            if (isNext)
                ++m_space.runs.back().count;
            else
                m_space.runs.push_back({seen.slot, 1});
        }
        m_space.runEnds.push_back(m_space.runs.size());
    }
}

void CpuTransformer::runAttention(Pass& pass, int layer) {
    const LayerOperations& operations = m_layers[toSize(layer)];
    normalise(m_weights.layers[toSize(layer)].attentionNorm, operations.queryKeyValue, pass.rows);
    OutputRows* const projected[] = {&m_space.queries, &m_space.keys, &m_space.values};
    operations.queryKeyValue.run(m_space.normed, pass.rows, projected, m_kernels, *m_pool);
    prepareRuns(pass.request.layout, m_config.layerWindows[toSize(layer)]);
    const int heads = m_config.kvHeadCount;
    if (pass.rows == 1) {
        m_pool->run(heads, [&](int head, int thread) {
            storeRow(pass, layer, 0, head);
            attendRow(pass, layer, 0, head, thread);
        });
    } else {
        // A row may see any other row of the pass, so all are stored first.
        m_pool->run(pass.rows * heads,
                    [&](int part, int) { storeRow(pass, layer, part / heads, part % heads); });
        m_pool->run(pass.rows * heads, [&](int part, int thread) {
            attendRow(pass, layer, part / heads, part % heads, thread);
        });
    }
    forRows(pass.rows, [&](int row) {
        m_space.context.prepare(row, operations.output.forms(), m_kernels.rows);
    });
    OutputRows* const out[] = {&m_space.added};
    operations.output.run(m_space.context, pass.rows, out, m_kernels, *m_pool);
    addToStream(pass, layer);
}

/// Turns a row's key and the queries of its group by their position; keeps key and value.
void CpuTransformer::storeRow(Pass& pass, int layer, int row, int kvHead) {
    const int dim = m_config.headDim;
    const int half = dim / 2;
    const std::size_t angles = toSize(row) * toSize(half);
    const int group = m_config.headCount / m_config.kvHeadCount;
    for (int head = kvHead * group; head < (kvHead + 1) * group; ++head)
        m_kernels.rows.rotate(m_space.queries.row(row) + head * dim,
                              m_space.queryCosines.data() + angles,
                              m_space.querySines.data() + angles,
                              half);
    float* key = m_space.keys.row(row) + kvHead * dim;
    m_kernels.rows.rotate(
        key, m_space.cosines.data() + angles, m_space.sines.data() + angles, half);
    const std::size_t slot = toSize(kvHead) * toSize(pass.storage.capacity()) +
                             toSize(pass.request.layout.firstSlot() + row);
    const std::size_t at = slot * toSize(dim) * elementBytes(m_kvType);
    const KvElement element = elementOf(m_kvType);
    m_kernels.rows.storeKeyValue(key, dim, element, pass.storage.keys(layer) + at);
    m_kernels.rows.storeKeyValue(
        m_space.values.row(row) + kvHead * dim, dim, element, pass.storage.values(layer) + at);
}

void CpuTransformer::attendRow(Pass& pass, int layer, int row, int kvHead, int thread) {
    const int dim = m_config.headDim;
    const int group = m_config.headCount / m_config.kvHeadCount;
    const std::size_t begin = row == 0 ? 0 : m_space.runEnds[toSize(row) - 1];
    const std::size_t end = m_space.runEnds[toSize(row)];
    const std::size_t plane =
        toSize(kvHead) * toSize(pass.storage.capacity()) * toSize(dim) * elementBytes(m_kvType);
    m_kernels.rows.attend({.queries = m_space.queries.row(row) + kvHead * group * dim,
                           .keys = pass.storage.keys(layer) + plane,
                           .values = pass.storage.values(layer) + plane,
                           .runs = m_space.runs.data() + begin,
                           .runCount = static_cast<std::int32_t>(end - begin),
                           .groupSize = group,
                           .headDim = dim,
                           .element = elementOf(m_kvType),
                           .scratch = m_space.attendScratch[toSize(thread)].data(),
                           .out = m_space.context.row(row) + kvHead * group * dim});
}

} // namespace engine::cpu
