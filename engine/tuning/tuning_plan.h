// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/settings.h"
#include "engine/tuning/rows/answer_rows.h"
#include "engine/tuning/trainer.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Where a draft network's layer starts.
enum class LayerStart : std::uint8_t { LastLayer, Random };

/// The name of a recipe, as typed: "draft", "layerskip" or "space".
std::string_view recipeName(TuningRecipe recipe);

/// Errors: InvalidInput for another name.
Result<TuningRecipe> recipeNamed(std::string_view name);

/// All that decides what a training makes, besides the model, the prompts and measured time. A
/// plain value.
struct TuningPlan {
    TuningRecipe recipe = TuningRecipe::Draft;
    std::string profile;
    std::int64_t answerTokens = 0; ///< that are trained on, once each epoch
    int epochs = 0;
    int stepRows = 0;       ///< rows of one step of the optimiser, about
    std::int64_t steps = 0; ///< 0: those of the epochs
    double minutes = 0.0;   ///< time in all; 0: as long as it takes
    std::uint64_t seed = 1;
    int threads = 1;
    SplitRule split = SplitRule::ByText; ///< which prompts are trained on, which are held out

    // By --set, for all recipes:
    double rate = 1e-3;
    bool isRateGiven = false; ///< otherwise it goes with the recipe and with isFull
    double averaging = 0.999;
    int longestAnswer = 192;     ///< tokens
    int validationSteps = 100;   ///< between two validations
    int validationRows = 20'000; ///< of one, about

    // For the recipe draft:
    int head = 8192; ///< tokens that can be drafted
    int layers = 1;
    int window = 256; ///< slots that a slot sees; 0 = all
    int unroll = 3;   ///< depths of the loss
    LayerStart start = LayerStart::LastLayer;
    double depthDecay = 0.6;
    double streamLoss = 0.5;
    bool usesBfloat16 = false;

    // For recipes that change the model; see ModelTrainerPlan:
    bool isFull = false;
    int rank = 32;
    double dropout = 0.1;
    double exitScale = 1.0;
    int rotation = 8;
    int exit = 0; ///< layers of the exit that is judged; 0: half of the model's
    int masks = 2;
    int places = 8;
    double plainShare = 0.5;
    bool isSoft = true;
    TokenId maskToken = kNoToken; ///< kNoToken: one that the model does not use

    bool changesModel() const { return recipe != TuningRecipe::Draft; }

    /// Rows of each prompt that are collected, its last ones: what the network's window can see, or
    /// all of a context of so many tokens.
    int promptRows(int context) const;

    /// Of the minutes, the part in which answers are collected.
    static constexpr double kCollectShare = 0.35;

    /// The JSON text of what decides the rows, and of all of it; `model` and
    /// `prompts` are hashes, `context` the tokens that fit. Equal texts, equal results.
    std::string rowsText(const std::string& model, const std::string& prompts, int context) const;
    std::string allText(const std::string& model, const std::string& prompts, int context) const;
};

/// The plan of a profile: "quick" (300,000 answer tokens), "full" (1,200,000) or "overnight"
/// (4,000,000), three epochs each, or two where the model is changed. Errors: InvalidInput for
/// another name.
Result<TuningPlan> planOfProfile(std::string_view profile,
                                 TuningRecipe recipe = TuningRecipe::Draft);

const std::vector<std::string>& tuningProfiles();

/// What --set can change: names, ranges and meanings.
const std::vector<SettingInfo>& tuningSettings(TuningRecipe recipe = TuningRecipe::Draft);

/// Takes NAME=VALUE into the plan. Errors: InvalidInput naming the setting and its range.
Result<void> applySetting(TuningPlan& plan, const std::string& typed);

/// The rule of a plan with this text, rowsText() or allText(); that of today for what is no plan.
SplitRule splitRuleOf(const std::string& text);

/// The first member in which two texts of plans differ, as "seed is 2, but was 1"; empty if they
/// are equal. Where both have a limit of time, it may differ, and so may the most answer tokens:
/// they decide how far a run goes and not what it does. Errors: CorruptFile for what is no JSON.
Result<std::string> differenceOf(const std::string& now, const std::string& before);

} // namespace engine
