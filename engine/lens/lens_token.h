// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"
#include "engine/model/head_summary.h"

#include <span>
#include <vector>

namespace engine {

// The prediction of a token at each depth of the network. A depth is counted in sublayers: 0 is the
// embedding, 2 l + 1 is behind the attention of layer l, and 2 l + 2 is behind its MLP.

inline int lensDepths(int layerCount) { return 2 * layerCount + 1; }

/// The layer at whose sublayer a depth lies; -1 for the embedding.
inline int layerOfDepth(int depth) { return depth == 0 ? -1 : (depth - 1) / 2; }

/// Whether it is behind an MLP, the end of a layer.
inline bool isBehindMlp(int depth) { return depth > 0 && depth % 2 == 0; }

/// What the model would write if it stopped at one depth: final norm and head on the residual
/// stream there, at temperature 1. A plain value.
struct LensCell {
    static constexpr int kTop = 5;

    std::vector<TokenId> ids;          ///< the most probable tokens, best first; at most kTop
    std::vector<double> probabilities; ///< of each of them
    int rank = 0;             ///< place of the token that stands there in the end, 0 = the first
    double probability = 0.0; ///< of that token

    bool isInTheLead() const { return rank == 0; }
};

/// A token of a text and what was predicted in its place. A plain value.
struct LensToken {
    TokenId token = kNoToken;
    std::vector<LensCell> cells; ///< [lensDepths]

    /// The depth from which on the token leads at every further one; -1 if it does not lead at the
    /// last one.
    int finalDepth() const;
};

/// The reduction of one row. `logits` [vocab] is looked at only if the token is not among those of
/// the summary; it may be empty if it is.
LensCell lensCell(const HeadSummary& summary, TokenId token, std::span<const double> logits);

} // namespace engine
