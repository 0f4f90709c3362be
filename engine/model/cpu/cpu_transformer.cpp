// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cpu/cpu_transformer.h"

#include "engine/base/to_size.h"
#include "engine/model/cpu/layer_cut.h"

#include <algorithm>
#include <cmath>

namespace engine::cpu {

namespace {

void scaleRow(float* row, float scale, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i)
        row[i] *= scale;
}

} // namespace

CpuTransformer::CpuTransformer(ModelConfig config,
                               Weights weights,
                               const Options& options,
                               const KernelSet& kernels)
    : CpuTransformer(std::move(config),
                     std::move(weights),
                     options,
                     kernels,
                     std::make_shared<WorkerPool>(threadCount(options.threads), *options.machine)) {
}

CpuTransformer::CpuTransformer(ModelConfig config,
                               Weights weights,
                               const Options& options,
                               const KernelSet& kernels,
                               std::shared_ptr<WorkerPool> pool)
    : m_config(std::move(config))
    , m_full{.weights = std::move(weights), .layers = {}, .head = {}}
    , m_packedCache(options.packedCache)
    , m_freeMemory(options.freeMemory)
    , m_kernels(kernels)
    , m_kvType(chosenKvType(m_full.weights, options.kvType))
    , m_kvElement(kvElement(m_kvType).value_or(KvElement::F32))
    , m_activate(m_config.activation == Activation::Silu ? kernels.rows.siluMultiply
                                                         : kernels.rows.geluMultiply)
    , m_logits(std::make_shared<HostLogits<float>>(m_config.headSize()))
    , m_pool(std::move(pool)) {
    const int threads = m_pool->threads();
    for (const LayerRope rope : {LayerRope::Model, LayerRope::Window, LayerRope::None})
        m_frequencies[static_cast<std::size_t>(rope)] =
            rotaryFrequencies(m_config, rope, options.cacheSlots);
    cut(m_full);
    if (m_config.isDraft())
        m_draftInput = LinearGroup({&m_full.weights.draftInput}, threads);
    const int group = m_config.headCount / m_config.kvHeadCount;
    const int scratch =
        std::max(attendScratchFloats(m_config.headDim),
                 attendRowsScratchFloats(std::max(kAttendQueries, group), m_config.headDim));
    m_space.attendScratch.resize(toSize(threads), std::vector<float>(toSize(scratch)));
    m_space.sectionSpaces.resize(toSize(threads));
    m_space.attendLeft = std::vector<PartsLeft>(toSize(m_config.kvHeadCount));
    m_space.logitScratch.resize(toSize(threads));
    m_space.streamStride =
        (toSize(m_config.hiddenSize) + kGroupColumns - 1) / kGroupColumns * kGroupColumns;
    reserve(8);
}

void CpuTransformer::cut(CutWeights& into) const {
    const int threads = m_pool->threads();
    into.layers = cutLayers(into.weights, threads);
    into.head = LinearGroup({&into.weights.outputHead()}, threads);
}

Result<KvCache> CpuTransformer::makeCache(Position capacity) const {
    ENGINE_TRY(auto storage, HostKvStorage::make(kvShape(capacity)));
    placeCache(*storage, m_pool->nodes());
    return KvCache(std::move(storage));
}

KvShape CpuTransformer::kvShape(Position capacity) const {
    return {m_config.layerCount, m_config.kvHeadCount, m_config.headDim, capacity, m_kvType};
}

/// Memory for passes of so many rows.
void CpuTransformer::reserve(int rows) {
    if (rows <= m_reservedRows)
        return;
    m_reservedRows = rows;
    const LayerWeights& layer = m_full.weights.layers.front();
    const bool hasColumns = m_kernels.instructionSet == InstructionSet::Amx;
    m_space.stream.reserve(toSize(rows) * m_space.streamStride);
    if (m_config.isDraft())
        m_space.joined.reserve(rows, 2 * m_config.hiddenSize, hasColumns);
    m_space.normed.reserve(rows, m_config.hiddenSize, hasColumns);
    m_space.context.reserve(rows, m_config.headCount * m_config.headDim, hasColumns);
    m_space.queries.reserve(rows, layer.query.matrix);
    m_space.rowQueries.reserve(toSize(rows) * toSize(m_config.headCount * m_config.headDim));
    m_space.keys.reserve(rows, layer.key.matrix);
    m_space.values.reserve(rows, layer.value.matrix);
    m_space.added.reserve(rows, layer.output.matrix);
    for (const LayerWeights& each : m_full.weights.layers) {
        const GatedMlp& mlp = each.mlps.front();
        if (each.router.matrix.rows == 0) {
            m_space.inner.reserve(rows, m_config.mlpSize, hasColumns);
            m_space.gate.reserve(rows, mlp.gate.matrix);
            m_space.up.reserve(rows, mlp.up.matrix);
            continue;
        }
        const int places = rows * m_config.experts.used;
        ExpertSpace& experts = m_space.experts;
        experts.logits.reserve(rows, each.router.matrix);
        experts.chosen.resize(toSize(rows));
        experts.in.reserve(places, m_config.hiddenSize, hasColumns);
        experts.inner.reserve(places, m_config.experts.size, hasColumns);
        experts.gate.reserve(places, mlp.gate.matrix);
        experts.up.reserve(places, mlp.up.matrix);
        experts.out.reserve(places, mlp.down.matrix);
    }
    m_space.isRowFinite.resize(toSize(rows));
    m_space.rowInfluence.resize(toSize(rows));
}

/// The plan as a flat list of what runs.
void CpuTransformer::compile(const ForwardRequest& request) {
    m_space.operations.clear();
    auto handOut = request.handOuts.begin();
    for (int layer = request.firstLayer; layer < request.layersEnd(); ++layer) {
        if (request.plan.runsAttention(layer))
            m_space.operations.push_back({Operation::Kind::Attention, layer});
        if (request.plan.runsMlp(layer))
            m_space.operations.push_back({Operation::Kind::Mlp, layer});
        if (handOut != request.handOuts.end() && handOut->layer == layer)
            m_space.operations.push_back({Operation::Kind::HandOut, layer, handOut++->to});
    }
}

Result<void>
CpuTransformer::forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) {
    checkForwardRequest(m_config, m_key, request, cache, m_copy != nullptr);
    const CallerOnNode caller(m_pool->nodes());
    m_used = request.plan.weights == WeightSet::Copy ? m_copy.get() : &m_full;
    Pass pass{request,
              hostStorage(cache, kvShape(cache.capacity())),
              result,
              request.layout.rowCount(),
              m_logits->begin(request.logitRows.size()),
              {}};
    result.clear();
    result.logits.show(m_logits, static_cast<int>(request.logitRows.size()));
    if (request.wantsInfluence)
        result.influence.assign(2 * toSize(m_config.layerCount), 0.0);
    reserve(pass.rows);
    compile(request);
    cutHead(request.headSpans);
    readInput(pass);
    prepareAngles(request.layout);
    m_space.runsWindow = -1;
    const Operation* const first = readerOf(0);
    forRows(
        pass.rows, [&](int row) { readStream(first, row); }, readsOf(first));
    for (std::size_t i = 0; i < m_space.operations.size(); ++i) {
        const Operation& operation = m_space.operations[i];
        switch (operation.kind) {
        case Operation::Kind::Attention:
            runAttention(pass, operation, readerOf(i + 1));
            break;
        case Operation::Kind::Mlp:
            runMlp(pass, operation, readerOf(i + 1));
            break;
        case Operation::Kind::HandOut:
            handOut(pass, *operation.handOut);
            break;
        }
        if (pass.error)
            return *std::move(pass.error);
    }
    runHead(pass);
    if (pass.error)
        return *std::move(pass.error);
    return {};
}

/// The first operation from this one on that reads the stream; null: the head does.
const Operation* CpuTransformer::readerOf(std::size_t operation) const {
    const auto found =
        std::find_if(m_space.operations.begin() + static_cast<std::ptrdiff_t>(operation),
                     m_space.operations.end(),
                     [](const Operation& each) { return each.kind != Operation::Kind::HandOut; });
    return found == m_space.operations.end() ? nullptr : &*found;
}

/// What the threads read first then.
WorkerPool::NextReads CpuTransformer::readsOf(const Operation* reader) const {
    return reader == nullptr ? WorkerPool::NextReads(m_space.headReads)
                             : firstGroupOf(*reader).firstReads();
}

/// The norm of a row and what the first matrices of an operation read of it; the head has its own.
void CpuTransformer::readStream(const Operation* reader, int row) {
    if (reader == nullptr)
        return;
    const LayerWeights& weights = weightsOf(reader->layer);
    const std::vector<float>& norm =
        reader->kind == Operation::Kind::Attention ? weights.attentionNorm : weights.mlpNorm;
    if (norm.empty()) // no norm stands there
        std::copy_n(streamRow(row), m_config.hiddenSize, m_space.normed.row(row));
    else
        m_kernels.rows.rmsNorm(streamRow(row),
                               norm.data(),
                               static_cast<float>(m_config.normEpsilon),
                               m_config.hiddenSize,
                               m_space.normed.row(row));
    m_space.normed.prepare(row, firstGroupOf(*reader).forms(), m_kernels.rows);
}

/// Both halves of a row have norms of their own; one linear layer makes the stream of them.
void CpuTransformer::readDraftInput(Pass& pass) {
    const int width = m_config.hiddenSize;
    const auto epsilon = static_cast<float>(m_config.normEpsilon);
    m_space.row.resize(m_space.streamStride);
    float* const row = m_space.row.data();
    for (int i = 0; i < pass.rows; ++i) {
        float* const joined = m_space.joined.row(i);
        const double* stream = pass.request.streams.data() + toSize(i) * toSize(width);
        std::copy_n(stream, width, row);
        m_kernels.rows.rmsNorm(row, m_full.weights.streamNorm.data(), epsilon, width, joined);
        readPackedRow(m_full.weights.embedding.matrix, pass.request.tokens[toSize(i)], m_space.row);
        m_kernels.rows.rmsNorm(
            row, m_full.weights.tokenNorm.data(), epsilon, width, joined + width);
        m_space.joined.prepare(i, m_draftInput.forms(), m_kernels.rows);
    }
    OutputRows* const out[] = {&m_space.added};
    m_draftInput.run({m_space.joined,
                      pass.rows,
                      out,
                      m_kernels,
                      *m_pool,
                      operationsOf(0).queryKeyValue.firstReads()});
    for (int i = 0; i < pass.rows; ++i)
        std::copy_n(m_space.added.row(i), width, streamRow(i));
}

void CpuTransformer::readInput(Pass& pass) {
    if (m_config.isDraft())
        return readDraftInput(pass);
    const ForwardRequest& request = pass.request;
    const std::size_t width = toSize(m_config.hiddenSize);
    if (request.firstLayer > 0) {
        int row = 0;
        for (const HiddenPiece& piece : request.hidden) {
            const auto& states = piece.from->storageOf<HostHidden<float>>(m_key);
            for (int i = 0; i < piece.count; ++i)
                std::copy_n(states.row(piece.first + i), width, streamRow(row++));
        }
        return;
    }
    forRows(pass.rows, [&](int row) {
        readPackedRow(m_full.weights.embedding.matrix,
                      request.tokens[toSize(row)],
                      std::span(streamRow(row), m_space.streamStride));
        if (m_config.embeddingScale != 1.0)
            scaleRow(streamRow(row), static_cast<float>(m_config.embeddingScale), width);
    });
}

Result<std::unique_ptr<Transformer>>
CpuTransformer::makeDraftNetwork(const ModelConfig& config, const WeightSource& source) const {
    ENGINE_TRY_DO(config.validate());
    Options options{.threads = m_pool->threads(),
                    .weights = WeightForm::File,
                    .packedCache = m_packedCache,
                    .machine = &m_pool->nodes().machine()};
    // Its head is rows of this model's, so that what was kept goes by this model and how it is
    // held.
    const Weights& own = m_full.weights;
    PackedCacheOptions& kept = options.packedCache;
    if (kept.fingerprint.empty() || own.fileState.empty())
        kept.folder.clear();
    kept.fingerprint += fmt::format(", drafts with rows of a head of form {} from {}",
                                    static_cast<int>(own.outputHead().matrix.form),
                                    own.fileState);
    ENGINE_TRY(Weights weights, packWeights(config, source, options));
    weights.embedding = m_full.weights.embedding;
    return std::unique_ptr<Transformer>(
        new CpuTransformer(config, std::move(weights), options, m_kernels, m_pool));
}

/// Models held as float32 are small or tests.
bool CpuTransformer::roundsDraftNetworks() const {
    return m_full.weights.mainFormat().form != TileForm::F32;
}

Result<void> CpuTransformer::readHeadRow(TokenId token, std::span<float> out) const {
    std::vector<float> row(m_space.streamStride);
    readPackedRow(m_full.weights.outputHead().matrix, token, row);
    std::copy_n(row.begin(), out.size(), out.begin());
    return {};
}

void CpuTransformer::runMlp(Pass& pass, const Operation& operation, const Operation* reader) {
    const LayerOperations& operations = operationsOf(operation.layer);
    if (operations.hasExperts())
        return runExperts(pass, operation, reader);
    const LinearGroup& gateUp = operations.gateUp;
    const LinearGroup& down = operations.down;
    m_pool->run(
        static_cast<int>(gateUp.pieces().size()),
        [&](int part, int) { runGateUp(pass, operations, gateUp.pieces()[toSize(part)]); },
        down.firstReads());
    OutputRows* const out[] = {&m_space.added};
    down.run({m_space.inner, pass.rows, out, m_kernels, *m_pool, readsOf(reader)});
    addToStream(pass, operation, reader);
}

/// The same tiles of both, what becomes of them, and what `down` reads of that.
void CpuTransformer::runGateUp(const Pass& pass,
                               const LayerOperations& operations,
                               const LinearGroup::Piece& piece) {
    operations.gateUp.runPiece(piece, 0, m_space.normed, pass.rows, m_space.gate, m_kernels);
    operations.gateUp.runPiece(piece, 1, m_space.normed, pass.rows, m_space.up, m_kernels);
    const int first = piece.firstTile * kTileRows;
    const int count = std::min(piece.tileCount * kTileRows, m_config.mlpSize - first);
    for (int row = 0; row < pass.rows; ++row) {
        m_activate(m_space.gate.row(row) + first,
                   m_space.up.row(row) + first,
                   count,
                   m_space.inner.row(row) + first);
        m_space.inner.prepareColumns(row, {first, count}, operations.down.forms(), m_kernels.rows);
    }
}

/// Adds what a sublayer made, behind the norm that follows it, and prepares what reads it next.
void CpuTransformer::addToStream(Pass& pass, const Operation& operation, const Operation* reader) {
    const int width = m_config.hiddenSize;
    const auto scale = static_cast<float>(m_config.residualScaleOf(operation.layer));
    const LayerWeights& weights = weightsOf(operation.layer);
    const bool isMlp = operation.kind == Operation::Kind::Mlp;
    const std::vector<float>& postNorm = isMlp ? weights.mlpPostNorm : weights.attentionPostNorm;
    const int sublayer = operation.layer + (isMlp ? m_config.layerCount : 0);
    forRows(
        pass.rows,
        [&](int row) {
            float* added = m_space.added.row(row);
            if (!postNorm.empty())
                m_kernels.rows.rmsNorm(
                    added, postNorm.data(), static_cast<float>(m_config.normEpsilon), width, added);
            if (scale != 1.0F)
                scaleRow(added, scale, toSize(width));
            if (pass.request.wantsInfluence) {
                const SquareSums sums = m_kernels.rows.squareSums(added, streamRow(row), width);
                m_space.rowInfluence[toSize(row)] =
                    sums.stream > 0.0 ? std::sqrt(sums.added / sums.stream) : 0.0;
            }
            m_space.isRowFinite[toSize(row)] =
                m_kernels.rows.addTo(streamRow(row), added, width) ? 1 : 0;
            readStream(reader, row);
        },
        readsOf(reader));
    if (pass.request.wantsInfluence)
        for (int row = 0; row < pass.rows; ++row)
            pass.result.influence[toSize(sublayer)] += m_space.rowInfluence[toSize(row)];
    const auto end = m_space.isRowFinite.begin() + pass.rows;
    if (std::find(m_space.isRowFinite.begin(), end, std::uint8_t{0}) != end)
        explainNonFinite(pass, sublayer);
}

/// Finds the first tensor behind which a number is not finite.
void CpuTransformer::explainNonFinite(Pass& pass, int sublayer) const {
    struct Stage {
        const OutputRows& rows;
        int width;
        const std::string& tensor;
    };

    const bool isMlp = sublayer >= m_config.layerCount;
    const int layer = isMlp ? sublayer - m_config.layerCount : sublayer;
    const LayerWeights& weights = weightsOf(layer);
    const std::string where = fmt::format("layer {}'s {}", layer, isMlp ? "MLP" : "attention");
    const auto stage = [&](const OutputRows& rows, const Linear& linear) {
        return Stage{rows, linear.matrix.rows, linear.name};
    };
    const GatedMlp& mlp = weights.mlps.front();
    const bool hasExperts = m_config.hasExperts(layer);
    const std::vector<Stage> stages =
        isMlp && hasExperts ? std::vector<Stage>{stage(m_space.experts.logits, weights.router),
                                                 stage(m_space.added, mlp.down)}
        : isMlp             ? std::vector<Stage>{stage(m_space.gate, mlp.gate),
                                                 stage(m_space.up, mlp.up),
                                                 stage(m_space.added, mlp.down)}
                            : std::vector<Stage>{stage(m_space.queries, weights.query),
                                                 stage(m_space.keys, weights.key),
                                                 stage(m_space.values, weights.value),
                                                 stage(m_space.added, weights.output)};
    for (const Stage& each : stages)
        for (int row = 0; row < pass.rows; ++row)
            for (int i = 0; i < each.width; ++i)
                if (!std::isfinite(each.rows.row(row)[i])) {
                    pass.error =
                        nonFiniteError(where, each.tensor, pass.request.layout.position(row));
                    return;
                }
    pass.error = nonFiniteError(where, stages.back().tensor, pass.request.layout.position(0));
}

void CpuTransformer::handOut(const Pass& pass, HiddenRows& to) {
    auto& states = to.storageFor<HostHidden<float>>(m_key, m_config.hiddenSize);
    for (int row = 0; row < pass.rows; ++row)
        states.append(streamRow(row));
}

} // namespace engine::cpu

namespace engine {

Result<std::unique_ptr<Transformer>> makeCpuTransformer(const ModelConfig& config,
                                                        const WeightSource& source,
                                                        const cpu::Options& options) {
    ENGINE_TRY_DO(config.validate());
    if (options.kvType == KvType::F64 || config.headDim > kMaxHeadDim)
        return Error{ErrorCode::Unsupported,
                     fmt::format("The cpu backend takes heads of up to {} numbers, keys and values "
                                 "of at most 32 bits.",
                                 kMaxHeadDim),
                     "The plain backend takes others."};
    ENGINE_TRY(const InstructionSet set, chooseInstructionSet(options.instructionSet));
    ENGINE_TRY(cpu::Weights weights, cpu::packWeights(config, source, options));
    return std::unique_ptr<Transformer>(
        std::make_unique<cpu::CpuTransformer>(config, std::move(weights), options, kernelSet(set)));
}

} // namespace engine
