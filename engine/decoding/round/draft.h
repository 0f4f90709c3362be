// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/round/decode_step.h"
#include "engine/model/handles/hidden_rows.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace engine {

/// What a round verifies, and what it took to draft it. Drafters make it and Target::verify takes
/// it over. A tree alone is a draft that took no pass; an empty draft makes a plain step.
struct Draft {
    DraftTree tree = {};
    std::vector<SideRow> sides = {}; ///< run beside the tree and are never accepted
    /// The plan that its passes ran, as DecodeStep::planId; 0 if no pass was made for it, because
    /// it was seen before or guessed.
    std::uint64_t planId = 0;
    double layerLoads = 0.0; ///< layers that its passes read, see DecodeStep::draftLayers
    double ms = 0.0;         ///< the time that drafting took, without promptMs
    double promptMs = 0.0;   ///< see DecodeStep::promptMs
    /// Layers that have run for all rows of the round, so that verification resumes behind them:
    /// the rows are those of Target::unread(), the pending token, the tree and the sides, and their
    /// keys and values in these layers are in the cache. 0: verification runs all layers.
    int layersRun = 0;
    /// The residual stream behind those layers, of all rows; null if none have run. It belongs to
    /// the drafter and is valid until its next draft; so are the earlier ones.
    const HiddenRows* hidden = nullptr;
    /// The same behind each of ExitDraftOptions::earlierLayers.
    std::vector<const HiddenRows*> earlier = {};
    /// [nodes] how many tokens each node is expected to add, falling, if the drafter knows: a draft
    /// of at most n nodes has the first n of them.
    std::vector<double> gains = {};

    Draft() = default;

    Draft(DraftTree drafted)
        : tree(std::move(drafted)) {}

    /// No draft, and why.
    static Draft empty(DraftEnd reason) {
        Draft none;
        none.tree.setEnd(reason);
        return none;
    }

    /// Tokens that a round with this draft is expected to emit, the bonus token included.
    double expectedTokens() const {
        double tokens = 1.0;
        for (const double gain : gains)
            tokens += gain;
        return tokens;
    }
};

} // namespace engine
