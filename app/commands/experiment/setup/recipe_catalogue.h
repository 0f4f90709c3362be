// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/recipe/recipe.h"

#include <string>
#include <vector>

namespace app {

/// The recipes that come with the program, in the order of their files' names. Errors: NotFound if
/// they are not installed; those of readRecipeFile.
engine::Result<std::vector<engine::Recipe>> listRecipes();

/// A recipe by its name, or by the path of a file (a name with a slash or a dot). Errors: NotFound
/// with the nearest name; those of readRecipeFile.
engine::Result<engine::Recipe> findRecipe(const std::string& nameOrPath);

} // namespace app
