// SPDX-License-Identifier: Apache-2.0
#include "engine/model/transformer.h"

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

void ForwardResult::clear() {
    logits.clear();
    hidden.clear();
    influence.clear();
    summaries.clear();
    vocabSize = 0;
}

Result<ForwardResult> Transformer::forward(const ForwardRequest& request, KvCache& cache) {
    ForwardResult result;
    ENGINE_TRY_DO(forwardInto(request, cache, result));
    return result;
}

void checkForwardRequest(const ModelConfig& config,
                         const ForwardRequest& request,
                         const KvCache& cache) {
    const std::size_t rows = static_cast<std::size_t>(request.layout.rowCount());
    ENGINE_CHECK(request.plan.layerCount() == config.layerCount &&
                     request.plan.exitAfterLayer < config.layerCount,
                 "a plan of {} layers, exit after {}, for a network of {}",
                 request.plan.layerCount(),
                 request.plan.exitAfterLayer,
                 config.layerCount);
    ENGINE_CHECK(request.layout.endSlot() <= cache.capacity(),
                 "slots up to {} in a cache of {}",
                 request.layout.endSlot(),
                 cache.capacity());
    if (request.firstLayer > 0) {
        ENGINE_CHECK(request.hidden.size() == rows * static_cast<std::size_t>(config.hiddenSize),
                     "{} hidden values for {} rows of {}",
                     request.hidden.size(),
                     rows,
                     config.hiddenSize);
        return;
    }
    ENGINE_CHECK(request.tokens.size() == rows, "{} ids for {} rows", request.tokens.size(), rows);
    for (const TokenId id : request.tokens)
        ENGINE_CHECK(id >= 0 && id < config.vocabSize,
                     "token id {} in a vocabulary of {}",
                     id,
                     config.vocabSize);
}

Error nonFiniteError(std::string_view where, std::string_view tensor, Position position) {
    return Error{
        ErrorCode::Numeric,
        fmt::format("The numbers of {} are not finite at position {}, first behind tensor {}.",
                    where,
                    position,
                    tensor),
        "The weights overflow this precision: try --precision float64, or fetch the model again."};
}

} // namespace engine
