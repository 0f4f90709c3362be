// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/target.h"
#include "engine/search/skip_choices.h"

#include <functional>
#include <optional>

namespace engine {

/// Plans a start set of this ratio along the newest token's stream; nothing when it cannot.
using StreamPlanner =
    std::function<Result<std::optional<LayerPlan>>(const SkipChoices& choices, double ratio)>;

/// The sublayers within the ratio's budget whose absence changes the stream of the newest cached
/// token least, see streamFront(). Nothing when no token is cached, no slot is free or nothing fits
/// the budget. Errors: those of a pass; Cancelled. Thread: engine.
Result<std::optional<LayerPlan>>
streamPlan(Target& target, const SkipChoices& choices, double ratio);

} // namespace engine
