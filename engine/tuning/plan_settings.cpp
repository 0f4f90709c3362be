// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/plan_settings.h"

#include "engine/base/setting_makers.h"

#include <functional>
#include <map>

namespace engine::plan_settings {

namespace {

constexpr double kDraftRate = 1e-3;
constexpr double kLoraRate = 1e-4;
constexpr double kFullRate = 3e-5;
constexpr double kSpaceRate = 5e-5;

SettingInfo wholeNumber(const char* name, int initial, double low, double high, const char* text) {
    return stepSetting(integerSetting(name, name, initial, {low, high}), "", text);
}

SettingInfo anyNumber(const char* name, double initial, double low, double high, const char* text) {
    return stepSetting(numberSetting(name, name, initial, {low, high}), "", text);
}

SettingInfo flag(const char* name, bool initial, const char* text) {
    return stepSetting(flagSetting(name, name, initial), "", text);
}

void append(std::vector<SettingInfo>& all, std::vector<SettingInfo> more) {
    all.insert(all.end(), more.begin(), more.end());
}

std::vector<SettingInfo> draftInfos(const TuningPlan& plan) {
    return {
        wholeNumber("head", plan.head, 16, 262'144, "Tokens that the adapter can draft."),
        wholeNumber("layers", plan.layers, 1, 4, "Layers of the adapter."),
        wholeNumber("window", plan.window, 0, 8192, "Rows that a row sees; 0 = all."),
        wholeNumber("unroll", plan.unroll, 1, kDepths, "Tokens in a row that the loss counts."),
        stepSetting(choiceSetting("start", "start", {"last_layer", "random"}),
                    "",
                    "Where the adapter's layer starts: as the model's last layer, or at random."),
        anyNumber("rate", kDraftRate, 1e-7, 1.0, "Highest rate of the optimiser."),
        anyNumber("depth_decay",
                  plan.depthDecay,
                  0.01,
                  1.0,
                  "Weight of a depth in the loss over that of the one before."),
        anyNumber("stream_loss",
                  plan.streamLoss,
                  0.0,
                  100.0,
                  "Weight of the loss of streams at the start; it falls to 0 at half time."),
        anyNumber("averaging", plan.averaging, 0.0, 0.99999, "Of the moving average of weights."),
        flag("bfloat16",
             plan.usesBfloat16,
             "Compute matrix products in bfloat16; the result is another one."),
    };
}

/// What both recipes share that change the model.
std::vector<SettingInfo> modelInfos(TuningRecipe recipe) {
    const TuningPlan plan;
    return {
        flag("full", plan.isFull, "Train all weights; off: LoRA of all linear layers."),
        wholeNumber("rank", plan.rank, 1, 1024, "Of LoRA."),
        anyNumber("rate",
                  usualRate(recipe, false),
                  1e-7,
                  1.0,
                  recipe == TuningRecipe::LayerSkip
                      ? "Highest rate of the optimiser; with full=on by default 0.00003."
                      : "Highest rate of the optimiser."),
        anyNumber("averaging", plan.averaging, 0.0, 0.99999, "Of the moving average of weights."),
    };
}

/// What all recipes share.
std::vector<SettingInfo> sharedInfos(const TuningPlan& plan, bool isDraft) {
    return {
        wholeNumber("longest_answer", plan.longestAnswer, 8, 4096, "Tokens of an answer, at most."),
        wholeNumber("step_rows",
                    isDraft ? kStepRows : kModelStepRows,
                    16,
                    65'536,
                    isDraft ? "Rows of a step, about; quick: 2048." : "Rows of a step, about."),
        wholeNumber("validation_steps",
                    plan.validationSteps,
                    1,
                    1'000'000,
                    "Steps between two validations."),
        wholeNumber("validation_rows",
                    isDraft ? plan.validationRows : kModelValidationRows,
                    16,
                    1'000'000,
                    "Rows that a validation reads, about."),
    };
}

std::vector<SettingInfo> layerSkipInfos(const TuningPlan& plan) {
    return {
        anyNumber("dropout",
                  plan.dropout,
                  0.0,
                  0.9,
                  "How often a text goes around the last layer; around the others less often."),
        anyNumber("exit_scale",
                  plan.exitScale,
                  0.0,
                  100.0,
                  "Of the weights of exits in the loss, beside that of the last layer."),
        wholeNumber("rotation", plan.rotation, 1, 1000, "Every so many-th exit is on in a step."),
        wholeNumber("exit",
                    plan.exit,
                    0,
                    1000,
                    "Layers of the exit whose drafts are judged; 0 = half of the model's."),
    };
}

std::vector<SettingInfo> spaceInfos(const TuningPlan& plan) {
    return {
        wholeNumber("masks", plan.masks, 1, 8, "Tokens that a group of masks foretells."),
        wholeNumber("places", plan.places, 1, 256, "Groups of masks beside one text, at most."),
        anyNumber("plain_share", plan.plainShare, 0.0, 1.0, "Share of texts without masks."),
        flag("soft",
             plan.isSoft,
             "Rows that are no masks learn what the untouched model said; off: the next token, as "
             "the paper has it."),
        wholeNumber("mask_token",
                    plan.maskToken,
                    kNoToken,
                    4'194'303,
                    "The id of the mask token; -1 = one that the model does not use."),
    };
}

double numberOfValue(const SettingValue& value) { return std::get<double>(value); }

int wholeOf(const SettingValue& value) { return static_cast<int>(numberOfValue(value)); }

} // namespace

double usualRate(TuningRecipe recipe, bool isFull) {
    switch (recipe) {
    case TuningRecipe::LayerSkip:
        return isFull ? kFullRate : kLoraRate;
    case TuningRecipe::Space:
        return kSpaceRate;
    case TuningRecipe::Draft:
        break;
    }
    return kDraftRate;
}

std::vector<SettingInfo> infos(TuningRecipe recipe) {
    const TuningPlan plan;
    const bool isDraft = recipe == TuningRecipe::Draft;
    std::vector<SettingInfo> all = isDraft ? draftInfos(plan) : modelInfos(recipe);
    append(all, sharedInfos(plan, isDraft));
    if (!isDraft)
        append(all, recipe == TuningRecipe::LayerSkip ? layerSkipInfos(plan) : spaceInfos(plan));
    return all;
}

void adopt(TuningPlan& plan, const std::string& name, const SettingValue& value) {
    const std::map<std::string, std::function<void()>> members = {
        {"head", [&] { plan.head = wholeOf(value); }},
        {"layers", [&] { plan.layers = wholeOf(value); }},
        {"window", [&] { plan.window = wholeOf(value); }},
        {"unroll", [&] { plan.unroll = wholeOf(value); }},
        {"start",
         [&] {
             plan.start = std::get<std::string>(value) == "random" ? LayerStart::Random
                                                                   : LayerStart::LastLayer;
         }},
        {"rate",
         [&] {
             plan.rate = numberOfValue(value);
             plan.isRateGiven = true;
         }},
        {"depth_decay", [&] { plan.depthDecay = numberOfValue(value); }},
        {"stream_loss", [&] { plan.streamLoss = numberOfValue(value); }},
        {"averaging", [&] { plan.averaging = numberOfValue(value); }},
        {"bfloat16", [&] { plan.usesBfloat16 = numberOfValue(value) != 0.0; }},
        {"longest_answer", [&] { plan.longestAnswer = wholeOf(value); }},
        {"step_rows", [&] { plan.stepRows = wholeOf(value); }},
        {"validation_steps", [&] { plan.validationSteps = wholeOf(value); }},
        {"validation_rows", [&] { plan.validationRows = wholeOf(value); }},
        {"full",
         [&] {
             plan.isFull = numberOfValue(value) != 0.0;
             if (!plan.isRateGiven)
                 plan.rate = usualRate(plan.recipe, plan.isFull);
         }},
        {"rank", [&] { plan.rank = wholeOf(value); }},
        {"dropout", [&] { plan.dropout = numberOfValue(value); }},
        {"exit_scale", [&] { plan.exitScale = numberOfValue(value); }},
        {"rotation", [&] { plan.rotation = wholeOf(value); }},
        {"exit", [&] { plan.exit = wholeOf(value); }},
        {"masks", [&] { plan.masks = wholeOf(value); }},
        {"places", [&] { plan.places = wholeOf(value); }},
        {"plain_share", [&] { plan.plainShare = numberOfValue(value); }},
        {"soft", [&] { plan.isSoft = numberOfValue(value) != 0.0; }},
        {"mask_token", [&] { plan.maskToken = wholeOf(value); }}};
    const auto member = members.find(name);
    ENGINE_CHECK(member != members.end(), "no setting {}", name);
    member->second();
}

} // namespace engine::plan_settings
