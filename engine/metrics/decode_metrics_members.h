// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/metrics/decode_metrics.h"

namespace engine {

/// The members by their names in JSON, in recordings and in the shards of experiments.
template <typename V> void visitMembers(V& visit, DecodeMetrics& r) {
    visit("rounds", r.rounds);
    visit("tokens", r.tokens);
    visit("accepted", r.accepted);
    visit("draft_steps", r.draftSteps);
    visit("drafted_nodes", r.draftedNodes);
    visit("verified_rows", r.verifiedRows);
    visit("draft_layers", r.draftLayers);
    visit("verify_layers", r.verifyLayers);
    visit("draft_ms", r.draftMs);
    visit("verify_ms", r.verifyMs);
    visit("search_ms", r.searchMs);
    visit("other_ms", r.otherMs);
    visit("plain_rounds", r.plainRounds);
    visit("plain_ms", r.plainMs);
    visit("plain_layers", r.plainLayers);
    visit("baseline_tokens", r.baselineTokens);
    visit("baseline_ms", r.baselineMs);
    visit("baseline_layers", r.baselineLayers);
}

} // namespace engine
