// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"
#include "engine/decoding/decode_step.h"
#include "engine/model/skip_set.h"

#include <cstdint>
#include <string>

namespace engine {

/// What a view needs to know of a loaded model. A plain value.
struct ModelFacts {
    std::string architecture; ///< "llama", ...
    int layerCount = 0;
    int hiddenSize = 0;
    int mlpSize = 0;
    int headCount = 0;
    int kvHeadCount = 0;
    int vocabSize = 0;
    int modelContextLength = 0; ///< tokens the model was trained for
    int contextLength = 0;      ///< tokens that fit here, prompt and answer together
    std::string backend;
    std::string precision;
    std::uint64_t weightBytes = 0;
    std::string tokenizer;    ///< described for people; empty = none
    std::string chatTemplate; ///< where it came from; empty = none
};

/// A plan as people read it. A plain value.
struct PlanOutline {
    int layerCount = 0;
    SkipSet skipped;
    int exitAfterLayer = 0;

    bool operator==(const PlanOutline&) const = default;
};

inline PlanOutline outlineOf(const LayerPlan& plan) {
    return {plan.layerCount(), skipSetOf(plan), plan.exitAfterLayer};
}

/// A token of an answer.
struct EmittedToken {
    TokenId id = kNoToken;
    std::string text; ///< what it made certain; may be empty, or end an earlier token's character
    TokenFact fact;
};

} // namespace engine
