// SPDX-License-Identifier: Apache-2.0
#include "plugins/jacobi/jacobi_settings.h"

#include "engine/base/setting_makers.h"

#include <algorithm>
#include <limits>

namespace jacobi {

using namespace engine;

namespace {

constexpr int kPublishedBlock = 3;
constexpr int kPublishedBudget = 511;
constexpr int kMostBudget = 1'000'000;

} // namespace

JacobiSettings JacobiSettings::make(const SettingValues& values, int preferredTreeNodes) {
    const std::string& mode = textOf(values, "mode");
    const int block = integerOf(values, "block");
    JacobiSettings made;
    made.slides = mode == "jacobi";
    // Few guesses come true, and each costs a row.
    const int suiting = made.slides ? preferredTreeNodes / 2 : kPublishedBlock;
    made.block = block == 0 ? std::clamp(suiting, 1, kMostBlock) : block;
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
        "An answer is the solution of a system of equations: each token is what the model has "
        "follow those before it. Instead of solving them one after the other, a block of guesses "
        "is run in one pass, and what the model says after each guess is the next guess for the "
        "place after it. Guesses that come out as they went in, from the left on, are final, and "
        "the first one that does not is replaced by the right token: every pass gives at least "
        "one token, so there are never more passes than tokens. jacobi keeps a long block full; "
        "gauss_seidel solves one short block after the other; hybrid does so for a budget of "
        "tokens and decodes plainly after it. The length of the answer is not known beforehand. "
        "It helps a little where the model's guesses for later places are right by luck: models "
        "that were trained token by token seldom look ahead, and about one pass in twenty is all "
        "that is usually saved, less than the further rows cost on a CPU. Models that were tuned "
        "for it gain more. Sampled guesses are drawn with vanilla's own random numbers of their "
        "places, and sampling gives vanilla's own tokens.";
    info.settings = {
        stepSetting(
            choiceSetting("mode", "Mode", {"jacobi", "gauss_seidel", "hybrid"}),
            "",
            "jacobi: one block that is kept full; gauss_seidel: block after block, each to its "
            "end; hybrid: the same up to the budget."),
        stepSetting(
            integerSetting("block", "Block b", 0, {0, kMostBlock}),
            "tokens",
            "Guesses of a block; 0 = 3, for jacobi what suits the backend; more than the answer "
            "takes = all of it."),
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
