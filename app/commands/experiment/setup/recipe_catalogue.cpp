// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/setup/recipe_catalogue.h"

#include "app/program_paths.h"
#include "engine/base/settings.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace app {

using namespace engine;

Result<std::vector<Recipe>> listRecipes() {
    const std::filesystem::path folder = resourceFolder() / "recipes";
    std::vector<std::filesystem::path> files;
    std::error_code code;
    for (std::filesystem::directory_iterator at(folder, code), end; !code && at != end;
         at.increment(code))
        if (at->path().extension() == ".json")
            files.push_back(at->path());
    if (files.empty())
        return Error{ErrorCode::NotFound,
                     fmt::format("The recipes were not found in {}.", folder.string()),
                     "Run installer/run.sh once: it puts them there."};
    std::sort(files.begin(), files.end());
    std::vector<Recipe> recipes;
    for (const std::filesystem::path& file : files) {
        ENGINE_TRY(Recipe recipe, readRecipeFile(file));
        recipes.push_back(std::move(recipe));
    }
    return recipes;
}

Result<Recipe> findRecipe(const std::string& nameOrPath) {
    if (nameOrPath.find_first_of("/.") != std::string::npos)
        return readRecipeFile(nameOrPath);
    ENGINE_TRY(std::vector<Recipe> known, listRecipes());
    std::vector<std::string> names;
    for (Recipe& recipe : known) {
        if (recipe.name == nameOrPath)
            return std::move(recipe);
        names.push_back(recipe.name);
    }
    const std::string near = nearestName(nameOrPath, names);
    return Error{ErrorCode::NotFound,
                 fmt::format("There is no recipe with the name \"{}\".", nameOrPath),
                 near.empty()
                     ? fmt::format("There are {}; a file's name needs a dot or a slash in it.",
                                   fmt::join(names, ", "))
                     : fmt::format("Did you mean {}?", near)};
}

} // namespace app
