// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/json/json_file.h"
#include "engine/experiments/recipe/recipe.h"
#include "engine/experiments/recipe/recipe_check.h"
#include "engine/experiments/recipe/recipe_members.h"
#include "engine/loading/files/byte_reader.h"

namespace engine {

namespace {

constexpr JsonFileKind kRecipeKind = {
    .format = "swift-experiment",
    .version = 1,
    .what = "recipe",
    .hint = "swift-run experiment --list names the recipes that come with the program.",
    .limits = {.maxBytes = kMostRecipeBytes, .maxDepth = 16, .maxNodes = 100'000},
    .indent = 2,
    .isStrict = true,
    .fault = ErrorCode::InvalidInput};

} // namespace

Result<Recipe> readRecipe(std::string_view text, const std::string& where) {
    ENGINE_TRY(Recipe recipe, parseJsonFile<Recipe>(kRecipeKind, text, where));
    ENGINE_TRY_DO(checkRecipe(recipe, where));
    return recipe;
}

Result<Recipe> readRecipeFile(const std::filesystem::path& path) {
    ENGINE_TRY(const std::string text, readTextFile(path, kMostRecipeBytes));
    return readRecipe(text, path.string());
}

std::string recipeJson(const Recipe& recipe) { return jsonFile(kRecipeKind, recipe); }

} // namespace engine
