// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/target.h"
#include "plugins/space/mask_groups.h"
#include "plugins/space/place_rates.h"

#include <vector>

namespace space {

/// A guess for one of the places behind the next pending token.
struct Candidate {
    engine::TokenId token = engine::kNoToken;
    double probability = 0.0;            ///< its mask's own, at temperature 1
    engine::Distribution drawnFrom = {}; ///< empty unless it was sampled
};

/// What each group of the newest pass would have drafted, the used one chosen; `used` = -1: none.
engine::StepTable groupTable(const engine::Target& target, const MaskGroups& groups, int used);

/// The candidates of the next round and how often such ones have been accepted.
engine::StepTable candidateTable(const std::vector<Candidate>& candidates, const PlaceRates& rates);

} // namespace space
