// SPDX-License-Identifier: Apache-2.0
#include "engine/base/to_size.h"
#include "engine/model/cache/attention_weights.h"
#include "engine/model/cpu/cpu_transformer.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace engine::cpu {

namespace {

const KeyRun& firstRun(const Workspace& space, int row) {
    return space.runs[row == 0 ? 0 : space.runEnds[toSize(row) - 1]];
}

/// Where the sections of a row with this first run begin: with keys that are hidden, or with it.
std::int32_t sectionsBegin(const KeyRun& run) { return run.slot - run.lead; }

/// The first slot from which all rows see whole sections, if they do.
std::int32_t sharedSlot(const Workspace& space) {
    std::int32_t slot = 0;
    for (std::size_t row = 0; row < space.runEnds.size(); ++row) {
        const KeyRun& run = firstRun(space, static_cast<int>(row));
        const std::int32_t hidden = run.lead == 0 ? 0 : kAttendSectionKeys;
        slot = std::max(slot, sectionsBegin(run) + hidden);
    }
    return slot;
}

/// Which of a row's sections is the first that all rows share; the first part is that section.
int firstShared(const Workspace& space, int row) {
    const std::int32_t apart =
        sectionsBegin(firstRun(space, row)) - sectionsBegin(firstRun(space, 0));
    return space.attendCut.parts.front().section - apart / kAttendSectionKeys;
}

/// The place of the sums of a row's section: those of shared ones come first, by section, then
/// those of each row's own.
int placeOfSums(const Workspace& space, int row, int section) {
    const AttendCut& cut = space.attendCut;
    const int own = cut.ownPlaces[toSize(row)];
    if (cut.sharedSections == 0)
        return own + section;
    const int shared = section - firstShared(space, row);
    if (shared < 0)
        return own + section;
    return shared < cut.sharedSections ? shared * static_cast<int>(cut.sectionCounts.size()) + row
                                       : own + section - cut.sharedSections;
}

} // namespace

/// Angles of all rows; those of queries carry the scores' scale along.
void CpuTransformer::prepareAngles(const AttentionLayout& layout) {
    const double scale = m_config.scoreScale();
    const double sharpened = m_config.ropeScaling.attentionFactor;
    for (std::size_t rope = 0; rope < m_frequencies.size(); ++rope) {
        AngleTable& table = m_space.angles[rope];
        table.half = static_cast<int>(m_frequencies[rope].size());
        for (auto* numbers : {&table.cosines, &table.sines, &table.queryCosines, &table.querySines})
            numbers->clear();
        for (int row = 0; row < layout.rowCount(); ++row)
            for (const double frequency : m_frequencies[rope]) {
                const double angle = frequency * layout.position(row);
                const double cosine = std::cos(angle) * sharpened;
                const double sine = std::sin(angle) * sharpened;
                table.cosines.push_back(static_cast<float>(cosine));
                table.sines.push_back(static_cast<float>(sine));
                table.queryCosines.push_back(static_cast<float>(cosine * scale));
                table.querySines.push_back(static_cast<float>(sine * scale));
            }
    }
}

/// The slots of each row's own keys in the order of their positions, neighbours together. Sections
/// are cut at multiples of their size among the positions, so that rows share them whose windows
/// begin elsewhere.
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
        m_space.runs[begin].lead = first % kAttendSectionKeys;
        m_space.runEnds.push_back(m_space.runs.size());
    }
    prepareParts(layout.rowCount());
}

/// Whole sections of keys that all rows see, among the neighbours with which each row begins.
int CpuTransformer::sharedSections() const {
    const std::int32_t begin = sharedSlot(m_space);
    std::int32_t end = std::numeric_limits<std::int32_t>::max();
    for (std::size_t row = 0; row < m_space.runEnds.size(); ++row) {
        const KeyRun& run = firstRun(m_space, static_cast<int>(row));
        end = std::min(end, run.slot + run.count);
    }
    return std::max(0, end - begin) / kAttendSectionKeys;
}

/// Whether each row's keys are neighbours, as in a prompt: cut at the same slots, and none before
/// the first one of an earlier row.
bool CpuTransformer::isPrompt() const {
    if (m_space.runs.size() != m_space.runEnds.size())
        return false;
    const auto differ = [](const KeyRun& row, const KeyRun& next) {
        return next.slot < row.slot ||
               (sectionsBegin(next) - sectionsBegin(row)) % kAttendSectionKeys != 0;
    };
    return std::adjacent_find(m_space.runs.begin(), m_space.runs.end(), differ) ==
           m_space.runs.end();
}

/// Rows of a prompt that a thread works on together.
int CpuTransformer::promptRows(int rows) const {
    constexpr int kPartsPerThread = 4;
    const int parts = kPartsPerThread * m_pool->threads();
    const int most = kAttendQueries * m_config.kvHeadCount / m_config.headCount;
    return std::max(1, std::min(most, rows * m_config.kvHeadCount / parts));
}

/// With few rows all threads work on the sections of their keys, on those that several rows see
/// only once; with many a row stays with one thread, in a prompt together with its neighbours.
void CpuTransformer::prepareParts(int rows) {
    constexpr int kFewRows = 16;
    AttendCut& cut = m_space.attendCut;
    cut.parts.clear();
    cut.sectionCounts.clear();
    cut.ownPlaces.clear();
    cut.isByRows = rows > kFewRows && isPrompt();
    if (cut.isByRows) {
        cut.sharedSections = cut.placeCount = 0;
        const int step = promptRows(rows);
        for (int row = 0; row < rows; row += step)
            cut.parts.push_back({row, std::min(step, rows - row), -1, 0});
        return;
    }
    cut.sharedSections = rows > 1 && rows <= kFewRows ? sharedSections() : 0;
    if (cut.sharedSections > 0) {
        const std::int32_t before = sharedSlot(m_space) - sectionsBegin(firstRun(m_space, 0));
        for (int shared = 0; shared < cut.sharedSections; ++shared)
            cut.parts.push_back({0, rows, before / kAttendSectionKeys + shared, shared * rows});
    }
    cut.placeCount = cut.sharedSections * rows;
    std::size_t run = 0;
    for (int row = 0; row < rows; ++row) {
        std::int64_t keys = firstRun(m_space, row).lead; // and places of hidden ones
        for (; run < m_space.runEnds[toSize(row)]; ++run)
            keys += m_space.runs[run].count;
        const int sections = static_cast<int>((keys + kAttendSectionKeys - 1) / kAttendSectionKeys);
        cut.sectionCounts.push_back(sections);
        cut.ownPlaces.push_back(cut.placeCount);
        if (rows > kFewRows || sections == 1) {
            cut.parts.push_back({row, 1, -1, 0});
            continue;
        }
        const int begin = cut.sharedSections > 0 ? firstShared(m_space, row) : sections;
        for (int section = 0; section < sections; ++section)
            if (section < begin || section >= begin + cut.sharedSections)
                cut.parts.push_back({row, 1, section, cut.placeCount++});
    }
    const std::size_t sums = toSize(m_config.headCount) * toSize(cut.placeCount);
    if (m_space.sectionTotals.size() < sums) {
        m_space.sectionTotals.resize(sums);
        m_space.sectionValues.resize(sums * toSize(m_config.headDim));
    }
}

void CpuTransformer::runAttention(Pass& pass, const Operation& operation, const Operation* reader) {
    const int layer = operation.layer;
    const LayerOperations& operations = operationsOf(layer);
    OutputRows* const projected[] = {&m_space.queries, &m_space.keys, &m_space.values};
    const LinearGroup& output = operations.output;
    prepareRuns(pass.request.layout, m_config.layerWindows[toSize(layer)]);
    planAttendReads(pass, layer);
    operations.queryKeyValue.run(
        {m_space.normed, pass.rows, projected, m_kernels, *m_pool, m_space.attendReads});
    normaliseHeads(pass, layer);
    const int heads = m_config.kvHeadCount;
    // A row may see any other row of the pass, so all are stored first.
    // Head after head, so that a thread stores most of what it attends to.
    const auto store = [&](int part) { storeRow(pass, layer, part % pass.rows, part / pass.rows); };
    if (pass.rows < kRowsWorthAFork)
        for (int part = 0; part < pass.rows * heads; ++part)
            store(part);
    else
        m_pool->run(pass.rows * heads, [&](int part, int) { store(part); });
    tellAttention(pass, layer);
    const int parts = static_cast<int>(m_space.attendCut.parts.size());
    for (PartsLeft& left : m_space.attendLeft)
        left.count.store(parts, std::memory_order_relaxed);
    m_pool->run(
        heads * parts,
        [&](int part, int thread) {
            attendPart(pass, layer, part, thread);
            finishPart(pass, part, thread, output);
        },
        output.firstReads());
    if (!finishesByHead())
        m_pool->run(
            pass.rows,
            [&](int row, int thread) {
                for (int kvHead = 0; kvHead < heads; ++kvHead)
                    joinContext(row, kvHead, thread);
                m_space.context.prepare(row, output.forms(), m_kernels.rows);
            },
            output.firstReads());
    OutputRows* const out[] = {&m_space.added};
    output.run({m_space.context, pass.rows, out, m_kernels, *m_pool, readsOf(reader)});
    addToStream(pass, operation, reader);
}

/// The weights of attention if they are wanted here, from the queries and keys that were stored.
void CpuTransformer::tellAttention(Pass& pass, int layer) {
    const auto& place = pass.request.attention;
    if (!place || place->layer != layer)
        return;
    const float* query = m_space.queries.row(place->row);
    const std::vector<double> scaled(query, query + m_config.headCount * m_config.headDim);
    pass.result.attention =
        attentionWeights(m_config, pass.storage, pass.request.layout, *place, scaled);
}

/// Where the keys of a row's section begin and end in their plane, as bytes and as if their slots
/// were neighbours.
CpuTransformer::ByteRange
CpuTransformer::sectionBytes(const HostKvStorage& storage, int row, int section) const {
    const std::size_t slotBytes = kvRowBytes(m_kvType, m_config.headDim);
    const std::size_t planeBytes = toSize(storage.capacity()) * slotBytes;
    const KeyRun& run = firstRun(m_space, row);
    const std::int32_t begin = sectionsBegin(run) + section * kAttendSectionKeys;
    const std::size_t slot = toSize(std::max(begin, run.slot)); // those before are hidden
    const std::size_t from = std::min(slot * slotBytes, planeBytes);
    const std::size_t end = std::min(toSize(begin + kAttendSectionKeys) * slotBytes, planeBytes);
    return {from, end - from};
}

/// The same for a part, of its section or else of the first one, in the planes of a layer.
CpuTransformer::ByteRange CpuTransformer::partBytes(const HostKvStorage& storage, int index) const {
    const auto parts = static_cast<int>(m_space.attendCut.parts.size());
    const AttendPart& part = m_space.attendCut.parts[toSize(index % parts)];
    const ByteRange range = sectionBytes(storage, part.firstRow, std::max(part.section, 0));
    const std::size_t plane =
        toSize(index / parts) * toSize(storage.capacity()) * kvRowBytes(m_kvType, m_config.headDim);
    return {plane + range.first, range.count};
}

/// The keys and values with which each thread begins.
void CpuTransformer::planAttendReads(Pass& pass, int layer) {
    const int threads = m_pool->threads();
    const int all = m_config.kvHeadCount * static_cast<int>(m_space.attendCut.parts.size());
    m_space.attendReads.assign(toSize(threads) * WorkerPool::kReadsPerThread, {});
    for (int thread = 0; thread < threads; ++thread) {
        const auto [first, end] = WorkerPool::shareOf(thread, all, threads);
        if (first == end)
            continue;
        const ByteRange range = partBytes(pass.storage, first);
        auto* reads = &m_space.attendReads[toSize(thread) * WorkerPool::kReadsPerThread];
        reads[0] = {pass.storage.keys(layer) + range.first, range.count};
        reads[1] = {pass.storage.values(layer) + range.first, range.count};
    }
}

/// Norms of queries and keys, of each head or of all together, before they are turned.
void CpuTransformer::normaliseHeads(Pass& pass, int layer) {
    const LayerWeights& weights = weightsOf(layer);
    if (weights.queryNorm.empty())
        return;
    const auto normaliseRow = [&](const std::vector<float>& weight, int heads, float* row) {
        const int width = static_cast<int>(weight.size());
        for (int at = 0; at < heads * m_config.headDim; at += width)
            m_kernels.rows.rmsNorm(
                row + at, weight.data(), static_cast<float>(m_config.normEpsilon), width, row + at);
    };
    forRows(pass.rows, [&](int row) {
        normaliseRow(weights.queryNorm, m_config.headCount, m_space.queries.row(row));
        normaliseRow(weights.keyNorm, m_config.kvHeadCount, m_space.keys.row(row));
    });
}

/// Turns a row's key and the queries of its group by their position; keeps key and value.
void CpuTransformer::storeRow(Pass& pass, int layer, int row, int kvHead) {
    const int dim = m_config.headDim;
    const AngleTable& table = m_space.angles[static_cast<std::size_t>(m_config.ropeOf(layer))];
    const int half = table.half;
    const std::size_t angles = toSize(row) * toSize(half);
    const auto scale = static_cast<float>(m_config.scoreScale());
    const int group = m_config.headCount / m_config.kvHeadCount;
    for (int head = kvHead * group; head < (kvHead + 1) * group; ++head) {
        float* query = m_space.queries.row(row) + head * dim;
        m_kernels.rows.rotate(
            query, table.queryCosines.data() + angles, table.querySines.data() + angles, half);
        for (int i = 2 * half; i < dim; ++i) // what is not turned
            query[i] *= scale;
    }
    std::copy_n(m_space.queries.row(row) + kvHead * group * dim,
                group * dim,
                rowQueries(pass.rows, row, kvHead));
    float* key = m_space.keys.row(row) + kvHead * dim;
    m_kernels.rows.rotate(key, table.cosines.data() + angles, table.sines.data() + angles, half);
    const std::size_t slot = toSize(kvHead) * toSize(pass.storage.capacity()) +
                             toSize(pass.request.layout.firstSlot() + row);
    const std::size_t at = slot * kvRowBytes(m_kvType, dim);
    m_kernels.rows.storeKeyValue(key, dim, m_kvElement, pass.storage.keys(layer) + at);
    m_kernels.rows.storeKeyValue(
        m_space.values.row(row) + kvHead * dim, dim, m_kvElement, pass.storage.values(layer) + at);
}

/// The queries of a row's group, behind those of the rows before.
float* CpuTransformer::rowQueries(int rows, int row, int kvHead) {
    const int width = m_config.headCount / m_config.kvHeadCount * m_config.headDim;
    return m_space.rowQueries.data() + toSize(kvHead * rows + row) * toSize(width);
}

/// Sums and totals of a place, [kv heads, places].
AttendSums CpuTransformer::sectionSums(int kvHead, int place) {
    const std::size_t group = toSize(m_config.headCount / m_config.kvHeadCount);
    const std::size_t at = toSize(kvHead * m_space.attendCut.placeCount + place) * group;
    return {m_space.sectionValues.data() + at * toSize(m_config.headDim),
            m_space.sectionTotals.data() + at};
}

void CpuTransformer::attendPart(Pass& pass, int layer, int index, int thread) {
    const AttendCut& cut = m_space.attendCut;
    const AttendPart& part = cut.parts[toSize(index) % cut.parts.size()];
    const int kvHead = index / static_cast<int>(cut.parts.size());
    const int dim = m_config.headDim;
    const int group = m_config.headCount / m_config.kvHeadCount;
    const std::size_t row = toSize(part.firstRow);
    const std::size_t begin = row == 0 ? 0 : m_space.runEnds[row - 1];
    const std::size_t plane =
        toSize(kvHead) * toSize(pass.storage.capacity()) * kvRowBytes(m_kvType, dim);
    AttendArguments arguments{.queries = rowQueries(pass.rows, part.firstRow, kvHead),
                              .keys = pass.storage.keys(layer) + plane,
                              .values = pass.storage.values(layer) + plane,
                              .runs = m_space.runs.data() + begin,
                              .runCount = static_cast<std::int32_t>(m_space.runEnds[row] - begin),
                              .groupSize = group * part.rowCount,
                              .headDim = dim,
                              .element = m_kvElement,
                              .scratch = m_space.attendScratch[toSize(thread)].data(),
                              .out = m_space.context.row(part.firstRow) + kvHead * group * dim,
                              .softCap = static_cast<float>(m_config.attentionSoftCap)};
    if (cut.isByRows)
        return m_kernels.rows.attendRows(
            {.queries = arguments.queries,
             .keys = arguments.keys,
             .values = arguments.values,
             .runs = arguments.runs,
             .rows = part.rowCount,
             .groupSize = group,
             .headDim = dim,
             .element = arguments.element,
             .scratch = arguments.scratch,
             .out = arguments.out,
             .outStride = static_cast<std::int64_t>(m_space.context.stride()),
             .softCap = arguments.softCap});
    if (part.section < 0)
        return attendInTurn(pass.storage, arguments, part.firstRow, thread);
    const AttendSums sums = sectionSums(kvHead, part.place);
    if (index + 1 < m_config.kvHeadCount * static_cast<int>(cut.parts.size())) {
        const ByteRange range = partBytes(pass.storage, index + 1);
        arguments.next = {pass.storage.keys(layer) + range.first, range.count};
    }
    arguments.section = part.section;
    arguments.out = sums.values;
    arguments.totals = sums.totals;
    m_kernels.rows.attend(arguments);
}

/// All sections of a row by one thread, in the same steps.
void CpuTransformer::attendInTurn(const HostKvStorage& storage,
                                  AttendArguments arguments,
                                  int row,
                                  int thread) {
    const int sections = m_space.attendCut.sectionCounts[toSize(row)];
    if (sections == 1)
        return m_kernels.rows.attend(arguments);
    const int group = arguments.groupSize;
    const int width = group * arguments.headDim;
    float* const out = arguments.out;
    SectionSpace& space = m_space.sectionSpaces[toSize(thread)];
    space.values.resize(std::max(space.values.size(), toSize(sections * width)));
    space.totals.resize(std::max(space.totals.size(), toSize(sections * group)));
    space.sums.clear();
    for (arguments.section = 0; arguments.section < sections; ++arguments.section) {
        const ByteRange next = sectionBytes(storage, row, arguments.section + 1);
        arguments.next = {static_cast<const std::byte*>(arguments.keys) + next.first, next.count};
        arguments.out = space.values.data() + arguments.section * width;
        arguments.totals = space.totals.data() + arguments.section * group;
        space.sums.push_back({arguments.out, arguments.totals});
        m_kernels.rows.attend(arguments);
    }
    m_kernels.rows.joinSections(group, arguments.headDim, space.sums.data(), sections, out);
}

/// Whether the context of each kv head is whole groups of what the output's matrix reads.
bool CpuTransformer::finishesByHead() const {
    const int width = m_config.headCount / m_config.kvHeadCount * m_config.headDim;
    return m_config.kvHeadCount == 1 || width % kGroupColumns == 0;
}

/// Behind a part of attention: what the output's matrix reads of the rows that are now complete in
/// its kv head, made by the thread that has most of their sums in its cache.
void CpuTransformer::finishPart(const Pass& pass,
                                int index,
                                int thread,
                                const LinearGroup& output) {
    if (!finishesByHead())
        return;
    const AttendCut& cut = m_space.attendCut;
    const int parts = static_cast<int>(cut.parts.size());
    const int kvHead = index / parts;
    AttendPart rows = cut.parts[toSize(index % parts)];
    if (cut.placeCount > 0) { // of several parts
        PartsLeft& left = m_space.attendLeft[toSize(kvHead)];
        if (left.count.fetch_sub(1, std::memory_order_acq_rel) > 1)
            return;
        rows = {.firstRow = 0, .rowCount = pass.rows, .section = -1, .place = 0};
    }
    const int width = m_config.headCount / m_config.kvHeadCount * m_config.headDim;
    for (int row = rows.firstRow; row < rows.firstRow + rows.rowCount; ++row) {
        joinContext(row, kvHead, thread);
        m_space.context.prepareColumns(
            row, {kvHead * width, width}, output.forms(), m_kernels.rows);
    }
}

/// Joins what the threads made of the sections of a row's keys.
void CpuTransformer::joinContext(int row, int kvHead, int thread) {
    const AttendCut& cut = m_space.attendCut;
    const int sections = cut.placeCount == 0 ? 1 : cut.sectionCounts[toSize(row)];
    if (sections == 1)
        return;
    const int dim = m_config.headDim;
    const int group = m_config.headCount / m_config.kvHeadCount;
    std::vector<AttendSums>& sums = m_space.sectionSpaces[toSize(thread)].sums;
    sums.clear();
    for (int section = 0; section < sections; ++section)
        sums.push_back(sectionSums(kvHead, placeOfSums(m_space, row, section)));
    m_kernels.rows.joinSections(
        group, dim, sums.data(), sections, m_space.context.row(row) + kvHead * group * dim);
}

} // namespace engine::cpu
