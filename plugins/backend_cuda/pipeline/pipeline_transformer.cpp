// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/pipeline/pipeline_transformer.h"

#include "engine/base/to_size.h"

#include <algorithm>

namespace backend_cuda {

using namespace engine;

namespace {

PipelineCache& pipelineStorage(KvCache& cache) {
    auto* storage = dynamic_cast<PipelineCache*>(&cache.storage());
    ENGINE_CHECK(storage != nullptr, "the cache was made by another backend");
    return *storage;
}

/// What of a request is for layers [first, end), which read `hidden` unless they begin with tokens.
ForwardRequest partOf(const ForwardRequest& request,
                      LayerSpan layers,
                      std::span<const HiddenPiece> hidden,
                      bool hasHead) {
    ForwardRequest part{.plan = request.plan, .layout = request.layout};
    part.tokens = request.tokens;
    part.hidden = hidden;
    part.firstLayer = layers.first;
    part.endLayer = layers.end;
    part.wantsInfluence = request.wantsInfluence;
    const auto isBelow = [](const HandOut& handOut, int layer) { return handOut.layer < layer; };
    const auto& all = request.handOuts;
    const auto from = std::lower_bound(all.begin(), all.end(), layers.first, isBelow);
    const auto to = std::lower_bound(all.begin(), all.end(), layers.end, isBelow);
    if (from < to)
        part.handOuts = std::span(from, to);
    if (request.attention && request.attention->layer >= layers.first &&
        request.attention->layer < layers.end)
        part.attention = request.attention;
    if (hasHead) {
        part.logitRows = request.logitRows;
        part.summaryRows = request.summaryRows;
    }
    return part;
}

} // namespace

void PipelineCache::copySlots(std::span<const SlotCopy> copies) {
    for (KvCache& part : m_parts)
        part.storage().copySlots(copies);
}

std::size_t PipelineCache::byteSize() const {
    std::size_t bytes = 0;
    for (const KvCache& part : m_parts)
        bytes += part.storage().byteSize();
    return bytes;
}

PipelineTransformer::PipelineTransformer(std::vector<std::unique_ptr<CudaTransformer>> parts,
                                         TransformerKey key,
                                         std::string arithmetic)
    : m_parts(std::move(parts))
    , m_key(key)
    , m_arithmetic(std::move(arithmetic)) {
    for (std::size_t from = 0; from < m_parts.size(); ++from) {
        std::vector<bool>& reaches = m_reaches.emplace_back(m_parts.size(), false);
        for (const std::size_t to : {from + 1, m_parts.size() - 1}) // behind an exit the last one
            if (to > from && to < m_parts.size() && !reaches[to])
                reaches[to] = m_parts[from]->reaches(*m_parts[to]);
    }
}

std::size_t PipelineTransformer::weightBytes() const {
    std::size_t bytes = 0;
    for (const auto& part : m_parts)
        bytes += part->weightBytes();
    return bytes;
}

std::string PipelineTransformer::deviceName() const {
    std::string names;
    for (const auto& part : m_parts)
        names += (names.empty() ? "" : " and ") + part->deviceName();
    return names;
}

Result<KvCache> PipelineTransformer::makeCache(Position capacity) const {
    std::vector<KvCache> caches;
    for (const auto& part : m_parts) {
        ENGINE_TRY(KvCache cache, part->makeCache(capacity));
        caches.push_back(std::move(cache));
    }
    return KvCache(std::make_unique<PipelineCache>(std::move(caches)));
}

/// Those of a request that this part has; perhaps none.
LayerSpan PipelineTransformer::layersOf(const ForwardRequest& request, std::size_t part) const {
    const LayerSpan own = m_parts[part]->span();
    return {std::max(request.firstLayer, own.first), std::min(request.layersEnd(), own.end)};
}

/// The first part from this one on that has something to do for a request; none: their number.
std::size_t PipelineTransformer::nextPart(const ForwardRequest& request, std::size_t from) const {
    const bool wantsHead = !request.logitRows.empty() || !request.summaryRows.empty();
    for (std::size_t part = from; part < m_parts.size(); ++part) {
        const bool readsTokens = part == 0 && request.firstLayer == 0;
        const bool hasHead = wantsHead && part + 1 == m_parts.size();
        if (readsTokens || hasHead || layersOf(request, part).count() > 0)
            return part;
    }
    return m_parts.size();
}

Result<void> PipelineTransformer::forwardInto(const ForwardRequest& request,
                                              KvCache& cache,
                                              ForwardResult& result) {
    checkForwardRequest(config(), m_key, request, cache);
    std::vector<KvCache>& caches = pipelineStorage(cache).parts();
    ENGINE_CHECK(caches.size() == m_parts.size(), "the cache was made for other GPUs");
    for (const auto& part : m_parts)
        if (part->lost())
            return *part->lost();
    result.clear();
    if (request.wantsInfluence)
        result.influence.assign(2 * toSize(config().layerCount), 0.0);
    std::vector<double> influence = std::move(result.influence);
    std::vector<double> attention;
    bool isUnderWay = false; // whether the stream is in m_borders[0], or already where it goes
    bool isHere = false;     // the latter
    std::size_t next = 0;
    for (std::size_t i = nextPart(request, 0); i < m_parts.size(); i = next) {
        next = nextPart(request, i + 1);
        const bool isLast = i + 1 == m_parts.size();
        const HiddenPiece border(m_borders[0]);
        std::span<const HiddenPiece> given = request.hidden;
        if (isUnderWay)
            given = isHere ? std::span<const HiddenPiece>() : std::span(&border, 1);
        StreamBorders borders{.isHere = isHere};
        m_borders[1].clear();
        if (next < m_parts.size() && m_reaches[i][next])
            borders.toPeer = m_parts[next].get();
        else if (next < m_parts.size())
            borders.toHost = &m_borders[1];
        ForwardResult& told = isLast ? result : m_partResult;
        ENGINE_TRY_DO(m_parts[i]->passOn(
            partOf(request, layersOf(request, i), given, isLast), caches[i], told, borders));
        std::swap(m_borders[0], m_borders[1]);
        isUnderWay = true;
        isHere = borders.toPeer != nullptr;
        for (std::size_t at = 0; at < told.influence.size(); ++at)
            influence[at] += told.influence[at];
        if (!told.attention.empty())
            attention = std::move(told.attention);
    }
    result.influence = std::move(influence);
    result.attention = std::move(attention);
    return {};
}

} // namespace backend_cuda
