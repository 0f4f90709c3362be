// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"

#include <cstdint>
#include <vector>

namespace engine {

/// The part of an answer on which plans are scored. A plain value.
struct MatchnessWindow {
    Position promptLength = 0;     ///< position of inputs[0]: that of the answer's first token
    std::vector<TokenId> inputs;   ///< [n] the answer's tokens from its first on, n > 0
    std::vector<TokenId> expected; ///< [n] the expected token after each of them
};

/// How well a plan predicts a window.
struct Matchness {
    double score = 0.0;                ///< the share of `matches` that is 1
    std::vector<TokenId> guesses;      ///< [n] the plan's most probable tokens
    std::vector<std::uint8_t> matches; ///< [n] 1 = the guess is the expected token
};

/// The source of the keys and values that a window's row sees at the window's earlier positions.
enum class MatchnessKeys {
    PromptOnly, ///< the plan's own, as in drafting; from the cache only the prompt's
    Target,     ///< the full model's cached ones, which the plan's rows never change
};

/// Scores a plan in one pass over the window. The rows are written to scratch slots beyond the
/// cache's length, so nothing is copied and nothing below the length is changed. The cache must
/// hold the prompt (with Target keys also the window but for its last token) and have room for n
/// more slots; anything else is a bug (ENGINE_CHECK). Errors: those of a pass. Thread: engine.
/// Source: arXiv 2410.06916, equations 3 and 4; differs: the published code copies the whole cache
/// for each measurement.
Result<Matchness> matchness(Transformer& transformer,
                            KvCache& cache,
                            const LayerPlan& plan,
                            const MatchnessWindow& window,
                            MatchnessKeys keys = MatchnessKeys::PromptOnly);

} // namespace engine
