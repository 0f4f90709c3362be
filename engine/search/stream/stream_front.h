// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"

#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace engine {

/// What a skip set leaves out as a whole.
enum class StreamItems {
    Layers,    ///< both sublayers of a layer; source: arXiv 2505.24196
    Sublayers, ///< each for itself; source: arXiv 2602.20217
};

/// What the sublayers are worth to a set, in whole numbers: what leaving one out saves. Of layers
/// each counts 1.
struct SublayerWorths {
    int attention = 1;
    int mlp = 1;

    /// From what both cost, in any unit: the cheaper one counts 1, the other at most 3.
    static SublayerWorths fromCosts(double attention, double mlp);
};

/// Which skip sets are looked for.
struct StreamTerms {
    StreamItems items = StreamItems::Layers;
    SublayerWorths worths = {}; ///< of StreamItems::Sublayers
    int most = 0;               ///< worth of what a set leaves out, at most
    int least = 1;              ///< and at least
    /// The newest cached tokens, the last one at position length - 1; at least one.
    std::span<const TokenId> references;
    std::stop_token stop = {};
};

/// A skip set of the front. A plain value.
struct StreamPoint {
    int worth = 0;     ///< of what it leaves out
    double loss = 0.0; ///< 1 - cosine of the stream behind the last layer, mean over references
    LayerPlan plan;
};

/// The worth of all sublayers that may be left out: those of the inner layers, as SkipSpace::inner.
int streamWorth(const ModelConfig& config, StreamItems items, const SublayerWorths& worths);

/// Rows that the passes of streamFront() put into scratch slots at once, at most.
inline constexpr int kStreamRows = 64;

/// The skip sets that change the residual stream of the reference tokens least, one for each worth
/// from `least` to `most` that sublayers can have together, by StreamPath. Runs each sublayer
/// between the first and the last layer once on all cells, kStreamRows or fewer at a time: every
/// cell stands at its token's own position, sees the full model's cached keys before it and itself.
/// Nothing below the cache's length is changed. At least one slot must be free behind it, and all
/// references must be cached; else it is a bug (ENGINE_CHECK). No sets when `most` is below `least`
/// or there are no inner layers. Errors: those of a pass; Cancelled between passes. Thread: engine.
Result<std::vector<StreamPoint>>
streamFront(Transformer& transformer, KvCache& cache, const StreamTerms& terms);

} // namespace engine
