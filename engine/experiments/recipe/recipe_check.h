// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/recipe/recipe.h"

namespace engine {

/// Whether the parts of a recipe belong together: names that are unique, stages and variants that
/// exist, words that are known, numbers in their ranges. Errors: InvalidInput naming the member
/// ("sizes.quick.max_tokens") and what it must be; `where` begins the message.
Result<void> checkRecipe(const Recipe& recipe, const std::string& where);

} // namespace engine
