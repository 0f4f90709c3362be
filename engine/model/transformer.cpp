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
