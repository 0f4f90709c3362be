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
    prepareParts(layout.rowCount());
}

/// With few rows the sections of long ones go to all threads; with many a row stays with one.
void CpuTransformer::prepareParts(int rows) {
    constexpr int kPartsPerThread = 4;
    const bool isCut = rows * m_config.kvHeadCount < kPartsPerThread * m_pool->threads();
    m_space.sectionCounts.clear();
    m_space.attendParts.clear();
    std::size_t run = 0;
    for (int row = 0; row < rows; ++row) {
        std::int64_t keys = 0;
        for (; run < m_space.runEnds[toSize(row)]; ++run)
            keys += m_space.runs[run].count;
        const int sections = static_cast<int>((keys + kAttendSectionKeys - 1) / kAttendSectionKeys);
        m_space.sectionCounts.push_back(sections);
        if (!isCut || sections == 1)
            m_space.attendParts.push_back({row, -1});
        else
            for (int section = 0; section < sections; ++section)
                m_space.attendParts.push_back({row, section});
    }
    if (!isCut)
        return;
    const std::size_t places = toSize(m_config.kvHeadCount) * m_space.attendParts.size();
    const std::size_t group = toSize(m_config.headCount / m_config.kvHeadCount);
    if (m_space.sectionTotals.size() < places * group) {
        m_space.sectionTotals.resize(places * group);
        m_space.sectionValues.resize(places * group * toSize(m_config.headDim));
    }
}

void CpuTransformer::runAttention(Pass& pass, int layer, WorkerPool::NextReads next) {
    const LayerOperations& operations = m_layers[toSize(layer)];
    normalise(m_weights.layers[toSize(layer)].attentionNorm, operations.queryKeyValue, pass.rows);
    OutputRows* const projected[] = {&m_space.queries, &m_space.keys, &m_space.values};
    const LinearGroup& output = operations.output;
    operations.queryKeyValue.run(
        {m_space.normed, pass.rows, projected, m_kernels, *m_pool, output.firstReads()});
    prepareRuns(pass.request.layout, m_config.layerWindows[toSize(layer)]);
    const int heads = m_config.kvHeadCount;
    // A row may see any other row of the pass, so all are stored first.
    const auto store = [&](int part) { storeRow(pass, layer, part / heads, part % heads); };
    if (pass.rows < kRowsWorthAFork)
        for (int part = 0; part < pass.rows * heads; ++part)
            store(part);
    else
        m_pool->run(pass.rows * heads, [&](int part, int) { store(part); });
    const int parts = static_cast<int>(m_space.attendParts.size());
    m_pool->run(
        heads * parts,
        [&](int part, int thread) { attendPart(pass, layer, part, thread); },
        output.firstReads());
    forRows(
        pass.rows,
        [&](int row) {
            joinSections(row);
            m_space.context.prepare(row, output.forms(), m_kernels.rows);
        },
        output.firstReads());
    OutputRows* const out[] = {&m_space.added};
    output.run({m_space.context, pass.rows, out, m_kernels, *m_pool, next});
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

/// What the kernel is to do for a row and a kv head; the sums go to the row's context.
AttendArguments
CpuTransformer::attendArguments(Pass& pass, int layer, int row, int kvHead, int thread) {
    const int dim = m_config.headDim;
    const int group = m_config.headCount / m_config.kvHeadCount;
    const std::size_t begin = row == 0 ? 0 : m_space.runEnds[toSize(row) - 1];
    const std::size_t end = m_space.runEnds[toSize(row)];
    const std::size_t plane =
        toSize(kvHead) * toSize(pass.storage.capacity()) * toSize(dim) * elementBytes(m_kvType);
    return {.queries = m_space.queries.row(row) + kvHead * group * dim,
            .keys = pass.storage.keys(layer) + plane,
            .values = pass.storage.values(layer) + plane,
            .runs = m_space.runs.data() + begin,
            .runCount = static_cast<std::int32_t>(end - begin),
            .groupSize = group,
            .headDim = dim,
            .element = elementOf(m_kvType),
            .scratch = m_space.attendScratch[toSize(thread)].data(),
            .out = m_space.context.row(row) + kvHead * group * dim};
}

/// Sums and totals of a section, [kv heads, parts].
AttendSums CpuTransformer::sectionSums(std::size_t place) {
    const std::size_t group = toSize(m_config.headCount / m_config.kvHeadCount);
    return {m_space.sectionValues.data() + place * group * toSize(m_config.headDim),
            m_space.sectionTotals.data() + place * group};
}

void CpuTransformer::attendPart(Pass& pass, int layer, int part, int thread) {
    const std::size_t parts = m_space.attendParts.size();
    const auto [row, section] = m_space.attendParts[toSize(part) % parts];
    const int kvHead = part / static_cast<int>(parts);
    AttendArguments arguments = attendArguments(pass, layer, row, kvHead, thread);
    if (m_space.sectionCounts[toSize(row)] == 1)
        return m_kernels.rows.attend(arguments);
    if (section < 0)
        return attendInTurn(arguments, m_space.sectionCounts[toSize(row)], thread);
    const AttendSums sums = sectionSums(toSize(part));
    arguments.section = section;
    arguments.out = sums.values;
    arguments.totals = sums.totals;
    m_kernels.rows.attend(arguments);
}

/// All sections of a row by one thread, in the same steps.
void CpuTransformer::attendInTurn(AttendArguments arguments, int sections, int thread) {
    const int group = arguments.groupSize;
    const int dim = arguments.headDim;
    AttendTotal* totals = m_space.totalScratch[toSize(thread)].data();
    const AttendSums sums{arguments.out, totals};
    const AttendSums later{arguments.scratch + attendScratchFloats(dim), totals + group};
    for (arguments.section = 0; arguments.section < sections; ++arguments.section) {
        const AttendSums& target = arguments.section == 0 ? sums : later;
        arguments.out = target.values;
        arguments.totals = target.totals;
        m_kernels.rows.attend(arguments);
        if (arguments.section > 0)
            m_kernels.rows.joinAttention(group, dim, later, sums);
    }
    m_kernels.rows.divideAttention(group, dim, sums);
}

/// Joins what the threads made of a row's sections, for all heads.
void CpuTransformer::joinSections(int row) {
    const std::size_t parts = m_space.attendParts.size();
    const auto isOfRow = [&](const AttendPart& part) { return part.row == row; };
    const auto found =
        std::find_if(m_space.attendParts.begin(), m_space.attendParts.end(), isOfRow);
    if (found->section < 0)
        return;
    const auto first = static_cast<std::size_t>(found - m_space.attendParts.begin());
    const int dim = m_config.headDim;
    const int group = m_config.headCount / m_config.kvHeadCount;
    for (int head = 0; head < m_config.kvHeadCount; ++head) {
        const std::size_t place = toSize(head) * parts + first;
        const AttendSums sums = sectionSums(place);
        for (int section = 1; section < m_space.sectionCounts[toSize(row)]; ++section)
            m_kernels.rows.joinAttention(group, dim, sectionSums(place + toSize(section)), sums);
        m_kernels.rows.divideAttention(group, dim, sums);
        std::copy_n(sums.values, group * dim, m_space.context.row(row) + head * group * dim);
    }
}

} // namespace engine::cpu
