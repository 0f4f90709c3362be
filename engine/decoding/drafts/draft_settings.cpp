// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/drafts/draft_settings.h"

#include "engine/base/setting_makers.h"

#include <fmt/format.h>

#include <utility>

namespace engine {

namespace {

constexpr int kMostLayers = 1023;
constexpr const char* kRejection = "rejection";

} // namespace

SettingInfo longestDraftSetting(int initial, int most) {
    return stepSetting(
        integerSetting("max_draft", "Longest draft", initial, {1, static_cast<double>(most)}),
        "tokens",
        "The most tokens that a draft may have.");
}

SettingInfo exitLayerSetting(std::string meaning) {
    return stepSetting(integerSetting("exit_layer", "Exit layer E", 0, {0, kMostLayers}),
                       "layers",
                       std::move(meaning));
}

Result<int> exitLayerOf(const SettingValues& values, int layerCount, std::string hint) {
    const int exit = integerOf(values, "exit_layer");
    if (exit >= layerCount)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("exit_layer is {}, but the model has {} layers: an early exit "
                                 "is behind layer 1 to {}.",
                                 exit,
                                 layerCount,
                                 layerCount - 1),
                     std::move(hint)};
    return exit;
}

SettingInfo verificationSetting() {
    return stepSetting(
        choiceSetting("verification", "Verification", {"match", kRejection}),
        "",
        "match emits exactly the tokens that vanilla would; rejection emits other tokens, drawn "
        "from the same distribution.");
}

VerifyRule verifyRuleOf(const SettingValues& values) {
    return textOf(values, "verification") == kRejection ? VerifyRule::Rejection : VerifyRule::Match;
}

SettingInfo draftVocabularySetting(double initial) {
    return stepSetting(
        numberSetting("draft_vocabulary", "Draft vocabulary", initial, {0.01, 1.0}),
        "",
        "Share of the vocabulary that a draft chooses from, beside the tokens of the text so far: "
        "the first tokens, which are the frequent ones. Draft passes read no other rows of the "
        "output head. 1 = all tokens.");
}

SettingInfo sharedNoiseSetting() {
    return stepSetting(
        flagSetting("shared_noise", "Shared noise", true),
        "",
        "When sampling, drafts are drawn with the same random numbers as vanilla, which makes "
        "them right more often; off: the most probable token is drafted.");
}

std::vector<SettingInfo> thresholdSettings(const AdaptiveThresholdOptions& initial, int mostSteps) {
    const auto share = [](const char* name, const char* title, double value, const char* meaning) {
        return stepSetting(numberSetting(name, title, value, {0.0, 1.0}), "", meaning);
    };
    return {
        share("th",
              "Confidence threshold",
              initial.threshold,
              "A draft ends after the first token that is less probable than this. The adaptive "
              "threshold starts here."),
        stepSetting(
            flagSetting("adapt", "Adaptive threshold", initial.adapts),
            "",
            "The threshold follows the acceptance rate and is kept from answer to answer; off: "
            "it stays where it is."),
        share("a",
              "Target acceptance a",
              initial.targetAcceptance,
              "The threshold rises while less of the drafts is accepted; .8 to .9 are usual."),
        share("step",
              "Threshold step ε",
              initial.stepSize,
              "How far the threshold tries to move in each round."),
        share("beta1",
              "Memory of the acceptance β1",
              initial.acceptanceMemory,
              "How much of the smoothed acceptance each round keeps."),
        share("beta2",
              "Memory of the threshold β2",
              initial.thresholdMemory,
              "How much of the threshold each round keeps."),
        longestDraftSetting(initial.maxSteps, mostSteps),
    };
}

AdaptiveThresholdOptions thresholdOf(const SettingValues& values) {
    return {.threshold = numberOf(values, "th"),
            .maxSteps = integerOf(values, "max_draft"),
            .targetAcceptance = numberOf(values, "a"),
            .stepSize = numberOf(values, "step"),
            .acceptanceMemory = numberOf(values, "beta1"),
            .thresholdMemory = numberOf(values, "beta2"),
            .adapts = flagOf(values, "adapt")};
}

SettingInfo marginSetting() {
    return stepSetting(numberSetting("margin", "Margin", 0.02, {-1.0, 1.0}),
                       "",
                       "A draft is made only if it promises to be this much faster than a plain "
                       "step: 0.02 asks for "
                       "2 % more tokens in the same time, -1 drafts whatever it costs.");
}

} // namespace engine
