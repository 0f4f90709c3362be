// SPDX-License-Identifier: Apache-2.0
#include "plugins/jacobi/jacobi_settings.h"

#include "engine/base/setting_makers.h"

#include <limits>

namespace jacobi {

using namespace engine;

namespace {

constexpr int kPublishedBlock = 3;
constexpr int kPublishedBudget = 511;
constexpr int kMostBudget = 1'000'000;

} // namespace

JacobiSettings JacobiSettings::make(const SettingValues& values) {
    const std::string& mode = textOf(values, "mode");
    JacobiSettings made;
    made.slides = mode == "jacobi";
    made.block = integerOf(values, "block");
    if (made.block == 0 && !made.slides)
        made.block = kPublishedBlock;
    made.usesPool = textOf(values, "refill") == "pool";
    made.budget = mode == "hybrid" ? integerOf(values, "budget") : std::numeric_limits<int>::max();
    return made;
}

DecoderInfo jacobiInfo() {
    DecoderInfo info;
    info.name = "jacobi";
    info.title = "Jacobi";
    info.summary = "Guesses a block of coming tokens and corrects all of them at once, pass by "
                   "pass, until the model agrees.";
    info.source = "arXiv 2305.10427";
    info.explanation =
        "An answer is the solution of a system of equations: each token is the one that the model "
        "predicts after those before it. Instead of solving them one after the other, the model "
        "reads a block of guesses in one pass, and its prediction after each guess becomes the new "
        "guess for the next place. Guesses that stay the same, counted from the left, are final, "
        "and the first one that changes is replaced by the right token. So every pass gives at "
        "least one token, and there are never more passes than tokens. jacobi keeps a long block "
        "full; gauss_seidel solves one short block after the other; hybrid does so for a number of "
        "tokens and then decodes plainly. It helps a little where guesses for later places happen "
        "to be right. Models that were trained token by token seldom look ahead: they usually save "
        "about one pass in twenty, which is less than the extra rows cost on a CPU. Models that "
        "were tuned for it gain more. When sampling, guesses are drawn with the random numbers "
        "that vanilla uses at their places, and the text is vanilla's own.";
    info.settings = {
        stepSetting(
            choiceSetting("mode", "Mode", {"jacobi", "gauss_seidel", "hybrid"}),
            "",
            "jacobi: one block that is kept full; gauss_seidel: block after block, each to its "
            "end; hybrid: the same up to the budget."),
        stepSetting(
            integerSetting("block", "Block b", 0, {0, kMostBlock}),
            "tokens",
            "Guesses of a block; 0 = 3, for jacobi as many as suit the backend and, once it is "
            "measured, the cost of a row; more than the answer takes = all of it."),
        stepSetting(
            choiceSetting("refill", "Refill", {"random", "pool"}),
            "",
            "What new places are guessed with. random: tokens of the prompt; pool: what followed "
            "the guess before, in the text or by the model; helps most with gauss_seidel."),
        stepSetting(integerSetting("budget", "Budget", kPublishedBudget, {0, kMostBudget}),
                    "tokens",
                    "For mode=hybrid: after so many tokens of an answer it goes on plainly.")};
    return info;
}

} // namespace jacobi
