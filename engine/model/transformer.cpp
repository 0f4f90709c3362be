// SPDX-License-Identifier: Apache-2.0
#include "engine/model/transformer.h"

#include "engine/base/system_memory.h"
#include "engine/kernels/memory_roof.h"
#include "engine/model/draft_model.h"

#include <algorithm>

namespace engine {

std::string_view precisionName(Precision precision) {
    switch (precision) {
    case Precision::F32:
        return "float32";
    case Precision::F64:
        return "float64";
    case Precision::BF16:
        return "bfloat16";
    }
    return "unknown";
}

std::string shortArithmetic(std::string_view arithmeticName) {
    return std::string(arithmeticName.substr(0, arithmeticName.find(',')));
}

int ForwardRequest::layersEnd() const {
    const int planEnd = plan.exitAfterLayer + 1;
    return endLayer < 0 ? planEnd : std::min(endLayer, planEnd);
}

void ForwardResult::clear() {
    logits.clear();
    influence.clear();
    summaries.clear();
    attention.clear();
}

Transformer::Transformer() = default;
Transformer::~Transformer() = default;

void Transformer::useDraftModel(std::unique_ptr<DraftModel> model) {
    m_draftModel = std::move(model);
}

Result<std::unique_ptr<ReadRoof>> Transformer::makeReadRoof(std::size_t bytes, int threads) const {
    ENGINE_TRY(auto roof,
               MemoryRoof::make(roofBytesThatFit(bytes, availableMemoryBytes()), threads));
    return std::unique_ptr<ReadRoof>(std::move(roof));
}

namespace {

Error noDraftNetworks() {
    return {ErrorCode::Unsupported,
            "This backend cannot compute draft adapters.",
            "Leave out --draft-adapter, or choose the backend cpu or plain."};
}

} // namespace

Result<std::unique_ptr<Transformer>>
Transformer::makeDraftNetwork(const ModelConfig& /*config*/, const WeightSource& /*source*/) const {
    return noDraftNetworks();
}

Result<void> Transformer::readHeadRow(TokenId /*token*/, std::span<float> /*out*/) const {
    return noDraftNetworks();
}

Result<bool> Transformer::makeCopyPiece() {
    return Error{ErrorCode::Unsupported,
                 "This backend makes no 4-bit copy of the weights, so none drafts.",
                 "Choose the backend cpu."};
}

Result<ForwardResult> Transformer::forward(const ForwardRequest& request, KvCache& cache) {
    ForwardResult result;
    ENGINE_TRY_DO(forwardInto(request, cache, result));
    return result;
}

namespace {

void checkHiddenStates(TransformerKey key, const ForwardRequest& request) {
    int rows = 0;
    for (const HiddenPiece& piece : request.hidden) {
        piece.from->checkOwner(key);
        ENGINE_CHECK(piece.first >= 0 && piece.count >= 0 &&
                         piece.first + piece.count <= piece.from->count(),
                     "{} hidden states from {} on, but there are {}",
                     piece.count,
                     piece.first,
                     piece.from->count());
        rows += piece.count;
    }
    ENGINE_CHECK(rows == request.layout.rowCount(),
                 "{} hidden states for {} rows",
                 rows,
                 request.layout.rowCount());
}

void checkTokens(const ModelConfig& config, const ForwardRequest& request) {
    ENGINE_CHECK(request.tokens.size() == static_cast<std::size_t>(request.layout.rowCount()),
                 "{} ids for {} rows",
                 request.tokens.size(),
                 request.layout.rowCount());
    for (const TokenId id : request.tokens)
        ENGINE_CHECK(id >= 0 && id < config.vocabSize,
                     "token id {} in a vocabulary of {}",
                     id,
                     config.vocabSize);
}

void checkStreams(const ModelConfig& config, const ForwardRequest& request) {
    const std::size_t wanted =
        config.isDraft() ? request.tokens.size() * static_cast<std::size_t>(config.hiddenSize) : 0;
    ENGINE_CHECK(request.streams.size() == wanted,
                 "{} numbers of streams, {} are called for",
                 request.streams.size(),
                 wanted);
}

void checkOutputs(const ModelConfig& config, TransformerKey key, const ForwardRequest& request) {
    for (const std::span<const int> wanted : {request.logitRows, request.summaryRows})
        for (const int row : wanted)
            ENGINE_CHECK(row >= 0 && row < request.layout.rowCount(), "logits of row {}", row);
    int end = 0;
    for (const TokenSpan& span : request.headSpans) {
        ENGINE_CHECK(span.first >= end && span.first < span.end && span.end <= config.headSize() &&
                         span.first % kHeadBlock == 0 &&
                         (span.end % kHeadBlock == 0 || span.end == config.headSize()),
                     "the tokens [{}, {}) of a head of {} behind {}",
                     span.first,
                     span.end,
                     config.headSize(),
                     end);
        end = span.end;
    }
    int next = request.firstLayer;
    for (const HandOut& handOut : request.handOuts) {
        ENGINE_CHECK(handOut.layer >= next && handOut.layer < request.layersEnd(),
                     "hidden states of a layer outside [{}, {}) were asked for",
                     next,
                     request.layersEnd());
        if (handOut.to->count() > 0)
            handOut.to->checkOwner(key);
        next = handOut.layer + 1;
    }
    if (const auto& place = request.attention)
        ENGINE_CHECK(place->row >= 0 && place->row < request.layout.rowCount() &&
                         place->layer >= request.firstLayer && place->layer < request.layersEnd() &&
                         request.plan.runsAttention(place->layer),
                     "the attention of row {} at layer {}, which does not run",
                     place->row,
                     place->layer);
}

} // namespace

void checkForwardRequest(const ModelConfig& config,
                         TransformerKey key,
                         const ForwardRequest& request,
                         const KvCache& cache,
                         bool hasCopy) {
    ENGINE_CHECK(hasCopy || request.plan.weights == WeightSet::Full,
                 "a pass on a copy that is not complete");
    ENGINE_CHECK(request.plan.layerCount() == config.layerCount &&
                     request.plan.mlp.size() == request.plan.attention.size() &&
                     request.plan.exitAfterLayer < config.layerCount && request.firstLayer >= 0,
                 "a plan of {} layers from {} on, exit after {}, for a network of {}",
                 request.plan.layerCount(),
                 request.firstLayer,
                 request.plan.exitAfterLayer,
                 config.layerCount);
    ENGINE_CHECK(request.layout.endSlot() <= cache.capacity(),
                 "slots up to {} in a cache of {}",
                 request.layout.endSlot(),
                 cache.capacity());
    if (request.firstLayer > 0)
        checkHiddenStates(key, request);
    else
        checkTokens(config, request);
    checkStreams(config, request);
    checkOutputs(config, key, request);
}

Error nonFiniteError(std::string_view where, std::string_view tensor, Position position) {
    return Error{
        ErrorCode::Numeric,
        fmt::format("The numbers of {} are not finite at position {}, first behind tensor {}.",
                    where,
                    position,
                    tensor),
        "The weights overflow this precision: try --backend plain --precision float64, or "
        "fetch the model again."};
}

} // namespace engine
