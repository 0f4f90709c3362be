// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/transformer/cuda_transformer.h"

#include "engine/base/to_size.h"
#include "plugins/backend_cuda/checks/device_roof.h"
#include "plugins/backend_cuda/transformer/operation_list.h"

#include <algorithm>
#include <cmath>

namespace backend_cuda {

using namespace engine;

namespace {

Form formOf(KvType type) {
    return type == KvType::F32 ? Form::F32 : type == KvType::BF16 ? Form::Bf16 : Form::F16;
}

/// What is lost for good, not for a model or a pass alone.
bool isOfDevice(const Error& error) { return error.code == ErrorCode::Device; }

} // namespace

KvType kvTypeOf(const CudaOptions& options, const TileFormat& format) {
    return options.kvType.value_or(format.form == TileForm::F32 ? KvType::F32 : KvType::F16);
}

Result<void> DeviceLogits::read(int index, std::span<double> out) const {
    std::vector<float> row(toSize(m_vocabSize));
    const float* from = m_rows + toSize(m_places[toSize(index)]) * toSize(m_stride);
    ENGINE_TRY_DO(m_device->download(std::as_writable_bytes(std::span(row)),
                                     reinterpret_cast<const std::byte*>(from)));
    std::copy(row.begin(), row.end(), out.begin());
    return {};
}

Result<float*> DeviceLogits::reserve(std::size_t count) {
    return m_memory.reserve<float>(m_device, count * toSize(m_stride));
}

Result<float*> DeviceLogits::begin(std::size_t count) {
    beginPass();
    m_places.assign(count, 0);
    ENGINE_TRY(float* const rows, reserve(count));
    m_rows = rows;
    return rows;
}

Result<std::unique_ptr<CudaTransformer>> CudaTransformer::make(std::shared_ptr<Device> device,
                                                               ModelConfig config,
                                                               DeviceWeights weights,
                                                               const CudaOptions& options,
                                                               Position contextLength,
                                                               TransformerKey key) {
    std::unique_ptr<CudaTransformer> made(new CudaTransformer(
        std::move(device), std::move(config), std::move(weights), options, contextLength, key));
    const std::size_t counters = counterCount(made->m_weights);
    ENGINE_TRY(auto* const memory,
               made->m_counterSpace.reserve<unsigned>(made->m_device, counters));
    ENGINE_TRY_DO(made->m_device->fillWithZeros(reinterpret_cast<std::byte*>(memory),
                                                counters * sizeof(unsigned)));
    made->m_network.barrier = memory;
    made->m_network.arrivals = memory + 1;
    ENGINE_TRY_DO(made->reserveMost(contextLength));
    return made;
}

CudaTransformer::CudaTransformer(std::shared_ptr<Device> device,
                                 ModelConfig config,
                                 DeviceWeights weights,
                                 const CudaOptions& options,
                                 Position contextLength,
                                 TransformerKey key)
    : m_device(std::move(device))
    , m_config(std::move(config))
    , m_key(key)
    , m_weights(std::move(weights))
    , m_kvType(kvTypeOf(options, m_weights.mainFormat))
    , m_instructionSet(fmt::format("sm_{}", m_device->facts().capability))
    , m_isByOperations(options.isByOperations)
    , m_logits(std::make_shared<DeviceLogits>(m_device, m_config.vocabSize)) {
    PassArguments& network = m_network;
    for (const LayerRope rope : {LayerRope::Model, LayerRope::Window, LayerRope::None}) {
        const auto place = static_cast<std::size_t>(rope);
        m_frequencies[place] = rotaryFrequencies(m_config, rope, contextLength);
        network.half[place] = static_cast<int>(m_frequencies[place].size());
    }
    network.hidden = m_config.hiddenSize;
    network.hiddenStrips = (m_config.hiddenSize + kStrip - 1) / kStrip;
    network.innerStride = innerStride(m_weights);
    network.heads = m_config.headCount;
    network.kvHeads = m_config.kvHeadCount;
    network.headDim = m_config.headDim;
    network.headWidth = headWidthOf(m_config);
    network.vocab = m_config.vocabSize;
    network.vocabStrips = m_weights.outputHead().matrix.strips;
    network.isSilu = m_config.activation == Activation::Silu ? 1 : 0;
    network.fullWidthNorm = m_config.headNorm == HeadNorm::FullWidth ? 1 : 0;
    network.experts = m_config.experts.count;
    network.usedExperts = m_config.experts.used;
    network.renormalises = m_config.experts.renormalises ? 1 : 0;
    network.epsilon = static_cast<float>(m_config.normEpsilon);
    network.scoreScale = static_cast<float>(m_config.scoreScale());
    network.scoreCap = static_cast<float>(m_config.attentionSoftCap);
    network.logitScale = static_cast<float>(m_config.logitScale);
    network.logitCap = static_cast<float>(m_config.logitSoftCap);
    network.embeddingScale = static_cast<float>(m_config.embeddingScale);
    network.embedding = m_weights.embedding.matrix;
    network.layers = span().count();
    network.kvForm = formOf(m_kvType);
}

Result<std::unique_ptr<ReadRoof>> CudaTransformer::makeReadRoof(std::size_t bytes,
                                                                int /*threads*/) const {
    return makeDeviceRoof(m_device, bytes);
}

Result<KvCache> CudaTransformer::makeCache(Position capacity) const {
    ENGINE_TRY(auto storage, CudaCache::make(m_device, kvShape(capacity), m_network.headWidth));
    return KvCache(std::move(storage));
}

KvShape CudaTransformer::kvShape(Position capacity) const {
    return {span().count(), m_config.kvHeadCount, m_config.headDim, capacity, m_kvType};
}

Result<void>
CudaTransformer::forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) {
    checkForwardRequest(m_config, m_key, request, cache);
    return passOn(request, cache, result, {});
}

Result<void> CudaTransformer::passOn(const ForwardRequest& request,
                                     KvCache& cache,
                                     ForwardResult& result,
                                     const StreamBorders& borders) {
    CudaCache& storage = cudaStorage(cache, kvShape(cache.capacity()));
    if (m_lost)
        return *m_lost;
    const auto run = [&]() -> Result<void> {
        ENGINE_TRY(float* const logits, m_logits->begin(request.logitRows.size()));
        result.clear();
        result.logits.show(m_logits, static_cast<int>(request.logitRows.size()));
        result.summaries.resize(request.summaryRows.size());
        if (request.wantsInfluence)
            result.influence.assign(2 * toSize(m_config.layerCount), 0.0);
        int firstLogit = 0;
        const int rows = request.layout.rowCount();
        const int atOnce = rowsAtOnce(m_weights);
        if (borders.toPeer != nullptr)
            ENGINE_TRY_DO(borders.toPeer->reserveBorder(toSize(rows)));
        for (int first = 0; first < rows; first += atOnce) {
            Piece piece{request, storage, result, borders, first, std::min(atOnce, rows - first)};
            ENGINE_TRY_DO(runPiece(piece, logits, firstLogit));
            firstLogit += static_cast<int>(piece.logitIndices.size());
        }
        return {};
    };
    Result<void> done = run();
    if (!done && isOfDevice(done.error()))
        m_lost = done.error();
    return done;
}

Result<void> CudaTransformer::runPiece(Piece& piece, float* logits, int firstLogit) {
    const ForwardRequest& request = piece.request;
    const auto isHere = [&piece](int row) {
        return row >= piece.first && row < piece.first + piece.count;
    };
    for (std::size_t index = 0; index < request.logitRows.size(); ++index)
        if (const int row = request.logitRows[index]; isHere(row)) {
            const auto end = piece.headRows.end();
            const auto at = std::find(piece.headRows.begin(), end, row - piece.first);
            m_logits->place(index, firstLogit + static_cast<int>(at - piece.headRows.begin()));
            if (at != end)
                continue;
            piece.headRows.push_back(row - piece.first);
            piece.logitIndices.push_back(index);
        }
    for (const int row : request.summaryRows)
        if (isHere(row) &&
            std::find(piece.headRows.begin(), piece.headRows.end(), row - piece.first) ==
                piece.headRows.end())
            piece.headRows.push_back(row - piece.first);
    PassArguments arguments = m_network;
    arguments.rows = piece.count;
    arguments.firstSlot = request.layout.firstSlot() + piece.first;
    arguments.cache = reinterpret_cast<char*>(piece.cache.data());
    arguments.capacity = piece.cache.capacity();
    arguments.headCount = static_cast<int>(piece.headRows.size());
    arguments.logitCount = static_cast<int>(piece.logitIndices.size());
    arguments.logits = logits + toSize(firstLogit) * toSize(m_logits->stride());
    piece.operations = makeOperations(m_config,
                                      m_weights,
                                      request,
                                      arguments.headCount,
                                      piece.borders.goesOn(),
                                      m_device->facts().multiprocessors);
    ENGINE_TRY_DO(prepareTables(piece, arguments));
    Result<void> launched = reserve({.rows = 8 * toSize(tilesOf(kernelFor(piece.count))),
                                     .sections = toSize(arguments.mostSections),
                                     .headRows = piece.headRows.size(),
                                     .handOuts = piece.handOutCount(),
                                     .wantsInfluence = request.wantsInfluence},
                                    arguments);
    if (launched)
        launched = launchAll(piece, arguments);
    if (launched)
        launched = handOver(piece, arguments);
    if (!launched) { // the tables may not change while they are sent
        std::byte none;
        ENGINE_TRY_DO(m_device->download({&none, 1}, reinterpret_cast<std::byte*>(arguments.flag)));
        return launched;
    }
    return takeResults(piece, arguments);
}

/// Workspaces of this extent, which is that of a piece, or at load of the largest one.
Result<void> CudaTransformer::reserve(const PassExtent& extent, PassArguments& arguments) {
    const PassSpaces spaces = spacesOf(m_config, m_weights, extent);
    const std::size_t rows = extent.rows;
    const std::size_t strips = toSize(arguments.hiddenStrips);
    const std::size_t hidden = strips * kStrip;
    const std::size_t context = rows * toSize(arguments.heads) * toSize(arguments.headWidth);
    arguments.rowStride = static_cast<int>(rows);
    ENGINE_TRY(arguments.stream, m_streamSpace.reserve<float>(m_device, spaces.stream));
    arguments.added = arguments.stream + rows * hidden;
    arguments.squares = arguments.stream + rows * 2 * hidden;
    arguments.addedSquares = arguments.squares + rows * strips;
    ENGINE_TRY(arguments.projected, m_projectedSpace.reserve<float>(m_device, spaces.projected));
    ENGINE_TRY(arguments.routed, m_innerSpace.reserve<float>(m_device, spaces.inner));
    arguments.inner = arguments.routed + rows * toSize(kMostExperts);
    ENGINE_TRY(arguments.context, m_contextSpace.reserve<float>(m_device, spaces.context));
    arguments.queries = reinterpret_cast<char*>(arguments.context + context);
    ENGINE_TRY(arguments.sums, m_sumSpace.reserve<float>(m_device, spaces.sums));
    arguments.totals = arguments.sums + context * extent.sections;
    ENGINE_TRY(arguments.partials, m_partialSpace.reserve<float>(m_device, spaces.partials));
    ENGINE_TRY(arguments.headPartials,
               m_headSpace.reserve<HeadPartial>(m_device, spaces.headPartials));
    return {};
}

Result<void> CudaTransformer::reserveMost(Position contextLength) {
    const PassExtent extent = largestExtent(m_weights, contextLength);
    PassArguments unused = m_network;
    ENGINE_TRY_DO(reserve(extent, unused));
    ENGINE_TRY_DO(m_logits->reserve(extent.logitRows));
    ENGINE_TRY_DO(m_tableSpace.reserve<std::byte>(m_device, tableBytes(m_config, extent)));
    if (span().first > 0)
        ENGINE_TRY_DO(reserveBorder(kBorderRows));
    return {};
}

/// Room for the stream of so many rows, which the GPU before puts here.
Result<void> CudaTransformer::reserveBorder(std::size_t rows) {
    ENGINE_TRY(m_border,
               m_borderSpace.reserve<float>(m_device, rows * toSize(m_config.hiddenSize)));
    return {};
}

bool CudaTransformer::reaches(const CudaTransformer& next) {
    if (next.m_border == nullptr || !m_device->reaches(*next.m_device))
        return false;
    constexpr std::size_t kTriedRows = 8; // fewer than any workspace has
    std::vector<std::byte> sent(kTriedRows * toSize(m_config.hiddenSize) * sizeof(float));
    for (std::size_t i = 0; i < sent.size(); ++i)
        sent[i] = static_cast<std::byte>((i * 37 + i / 256 + 1) % 256);
    std::vector<std::byte> found(sent.size());
    auto* const to = reinterpret_cast<std::byte*>(next.m_border);
    const auto attempt = [&]() -> Result<void> {
        ENGINE_TRY(std::byte* const from, m_tableSpace.reserve<std::byte>(m_device, sent.size()));
        ENGINE_TRY_DO(next.m_device->fillWithZeros(to, sent.size()));
        ENGINE_TRY_DO(next.m_device->download(found, to)); // they are there before others arrive
        ENGINE_TRY_DO(m_device->upload(from, sent));
        ENGINE_TRY_DO(m_device->copyTo(*next.m_device, to, from, sent.size()));
        ENGINE_TRY_DO(m_device->download(std::span(found).first(1), from));
        return next.m_device->download(found, to);
    };
    return attempt() && found == sent; // a GPU that fails says so when it computes
}

/// The stream behind these layers, straight into the memory of the next GPU.
Result<void> CudaTransformer::handOver(const Piece& piece, const PassArguments& arguments) {
    const CudaTransformer* const next = piece.borders.toPeer;
    if (next == nullptr)
        return {};
    const std::size_t width = toSize(m_config.hiddenSize);
    return m_device->copyTo(
        *next->m_device,
        reinterpret_cast<std::byte*>(next->m_border + toSize(piece.first) * width),
        reinterpret_cast<const std::byte*>(arguments.handOuts),
        toSize(piece.count) * width * sizeof(float));
}

Result<void> CudaTransformer::prepareTables(Piece& piece, PassArguments& arguments) {
    const ForwardRequest& request = piece.request;
    const AttentionLayout& layout = request.layout;
    m_tables.clear();
    const unsigned flag[4] = {kAllFinite};
    m_tables.add(std::span<const unsigned>(flag));
    piece.operationsAt = m_tables.add(piece.operations);
    const LayoutTables tables = tablesOf(layout, piece.first, piece.count);
    arguments.partCount = static_cast<int>(tables.parts.size());
    arguments.mostSections = tables.mostSections;
    std::vector<float> given;
    std::vector<int> tokens;
    if (request.firstLayer == 0)
        tokens.assign(request.tokens.begin() + piece.first,
                      request.tokens.begin() + piece.first + piece.count);
    else if (!piece.borders.isHere)
        ENGINE_TRY_DO(readGiven(piece, given));
    const std::size_t givenAt = m_tables.add(given);
    const std::size_t tokensAt = m_tables.add(tokens);
    const std::size_t countsAt = m_tables.add(tables.counts);
    const std::size_t prefixesAt = m_tables.add(tables.prefixes);
    const std::size_t startsAt = m_tables.add(tables.pathStarts);
    const std::size_t slotsAt = m_tables.add(tables.pathSlots);
    const std::size_t partsAt = m_tables.add(tables.parts);
    const std::size_t headRowsAt = m_tables.add(piece.headRows);
    const std::size_t movesAt = m_tables.add(piece.cache.moves());
    arguments.moveCount = static_cast<int>(piece.cache.moves().size());
    std::array<std::size_t, 3> cosinesAt;
    std::array<std::size_t, 3> sinesAt;
    for (std::size_t rope = 0; rope < m_frequencies.size(); ++rope) {
        std::vector<float> cosines;
        std::vector<float> sines;
        for (int row = piece.first; row < piece.first + piece.count; ++row)
            for (const double frequency : m_frequencies[rope]) {
                const double angle = frequency * layout.position(row);
                const double size = m_config.ropeScaling.attentionFactor;
                cosines.push_back(static_cast<float>(size * std::cos(angle)));
                sines.push_back(static_cast<float>(size * std::sin(angle)));
            }
        cosinesAt[rope] = m_tables.add(cosines);
        sinesAt[rope] = m_tables.add(sines);
    }
    piece.found = findingsOf(m_config,
                             toSize(piece.count),
                             piece.handOutCount(),
                             request.wantsInfluence,
                             piece.headRows.size());
    ENGINE_TRY(
        std::byte* const found,
        m_tableSpace.reserve<std::byte>(m_device, piece.found.flagAt + m_tables.bytes().size()));
    std::byte* const base = found + piece.found.flagAt;
    ENGINE_TRY_DO(m_device->send(base, m_tables.bytes()));
    arguments.handOuts = reinterpret_cast<float*>(found);
    if (request.wantsInfluence)
        arguments.influence = reinterpret_cast<float*>(found + piece.found.influenceAt);
    arguments.headResults = reinterpret_cast<HeadResult*>(found + piece.found.resultsAt);
    arguments.flag = reinterpret_cast<unsigned*>(base);
    arguments.operations = reinterpret_cast<const Operation*>(base + piece.operationsAt);
    if (piece.borders.isHere)
        arguments.given = m_border + toSize(piece.first) * toSize(m_config.hiddenSize);
    else if (request.firstLayer > 0)
        arguments.given = reinterpret_cast<const float*>(base + givenAt);
    const auto integers = [base](std::size_t at) {
        return reinterpret_cast<const int*>(base + at);
    };
    arguments.tokens = integers(tokensAt);
    arguments.counts = integers(countsAt);
    arguments.prefixes = integers(prefixesAt);
    arguments.pathStarts = integers(startsAt);
    arguments.pathSlots = integers(slotsAt);
    arguments.headRows = integers(headRowsAt);
    arguments.parts = reinterpret_cast<const Part*>(base + partsAt);
    arguments.moves = reinterpret_cast<const Move*>(base + movesAt);
    for (std::size_t rope = 0; rope < m_frequencies.size(); ++rope) {
        arguments.cosines[rope] = reinterpret_cast<const float*>(base + cosinesAt[rope]);
        arguments.sines[rope] = reinterpret_cast<const float*>(base + sinesAt[rope]);
    }
    return {};
}

/// The rows of a resumed pass, [count, hidden].
Result<void> CudaTransformer::readGiven(const Piece& piece, std::vector<float>& given) const {
    const std::size_t width = toSize(m_config.hiddenSize);
    int row = 0;
    for (const HiddenPiece& from : piece.request.hidden) {
        const auto& states = from.from->storageOf<HostHidden<float>>(m_key);
        for (int i = 0; i < from.count; ++i, ++row)
            if (row >= piece.first && row < piece.first + piece.count) {
                const float* numbers = states.row(from.first + i);
                given.insert(given.end(), numbers, numbers + width);
            }
    }
    return {};
}

Result<void>
CudaTransformer::launch(const Piece& piece, PassArguments arguments, int first, int end) {
    const int blocks = m_device->facts().multiprocessors;
    arguments.first = first;
    arguments.end = end;
    arguments.barrierStart = m_barriersPassed;
    ENGINE_TRY_DO(m_device->launch(kernelFor(piece.count), blocks, arguments));
    m_barriersPassed += static_cast<unsigned>(blocks * (end - first)); // goes round
    return {};
}

Result<void> CudaTransformer::launchAll(Piece& piece, PassArguments arguments) {
    const auto& wanted = piece.request.attention;
    const int count = static_cast<int>(piece.operations.size());
    int first = 0;
    for (int place = 0; place < count; ++place) {
        const Operation& operation = piece.operations[toSize(place)];
        const bool isAttention =
            wanted && operation.kind == Kind::Attend && operation.sublayer == wanted->layer &&
            wanted->row >= piece.first && wanted->row < piece.first + piece.count;
        if (!isAttention && !m_isByOperations && place + 1 < count)
            continue;
        ENGINE_TRY_DO(launch(piece, arguments, first, place + 1));
        piece.cache.forgetMoves(); // the first launch makes them
        first = place + 1;
        if (isAttention)
            ENGINE_TRY_DO(tellAttention(piece, arguments));
    }
    return {};
}

} // namespace backend_cuda
