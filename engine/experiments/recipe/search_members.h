// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/recipe/recipe.h"

namespace engine {

/// The members of a search by their names in JSON, in recipes and in plans.
template <typename V> void visitMembers(V& visit, RecipeSearch& r) {
    visit("method", r.method);
    visit("trials", r.trials);
    visit("max_tokens", r.maxTokens);
    visit("ratio", r.ratio);
    visit("by_time", r.byTime);
}

} // namespace engine
