// SPDX-License-Identifier: Apache-2.0
#include "plugins/layerskip/layerskip_settings.h"

#include "engine/base/setting_makers.h"
#include "engine/decoding/drafts/draft_settings.h"

#include <algorithm>
#include <utility>

namespace layerskip {

using namespace engine;

namespace {

constexpr int kMostLength = 64;
constexpr int kUsualLongest = 18;
constexpr const char* kPerRound = "per_round";

std::vector<SettingInfo> commonInfos() {
    return {
        exitLayerSetting(
            "Layers that draft, counted from the first; the verification continues after them. "
            "0 = the exit that a model made by tune was trained for, else a quarter of the "
            "model's."),
        verificationSetting(),
        sharedNoiseSetting(),
        draftVocabularySetting(1.0), // the paper's drafts read the whole head
        answerSetting(flagSetting("fused_start", "Draft from the prompt", true),
                      "",
                      "The first round reads the last 128 prompt tokens on its way, instead of "
                      "a pass before it."),
    };
}

SettingInfo lengthInfo(const char* title, const char* meaning) {
    return stepSetting(integerSetting("length", title, 6, {1, kMostLength}), "tokens", meaning);
}

std::vector<SettingInfo> thresholdInfos() {
    std::vector<SettingInfo> settings = {
        stepSetting(choiceSetting("profile", "Profile", {"del", "draft_and_verify"}),
                    "",
                    "Published constants of the threshold; those given beside it win."),
        stepSetting(
            choiceSetting("acceptance", "Acceptance", {"cumulative", kPerRound}),
            "",
            "cumulative: of the answer so far, remembered from answer to answer (DEL's baseline); "
            "per_round: of the newest round, from 0 on in each answer (Draft & Verify)."),
    };
    appendSettings(
        settings,
        thresholdSettings({.maxSteps = kUsualLongest, .targetAcceptance = 0.8}, kMostLength));
    return settings;
}

/// What all three share, for people.
constexpr const char* kHowItWorks =
    "The first layers of the model draft: after layer E a token goes straight to the model's own "
    "output head, which names the next one. Then the remaining layers check all drafted tokens in "
    "one pass. They go on from what the first layers have computed, so no layer is run twice for a "
    "token, and no second model and no second cache are needed. ";

constexpr const char* kWhenItHelps =
    " It pays with models that were trained for it (LayerSkip checkpoints), whose early layers "
    "already know most easy words. The early layers of other models hardly ever guess right, and "
    "then drafting costs time and gives nothing. A large vocabulary hurts too: every drafted token "
    "reads the whole output head.";

std::vector<SettingInfo> lengthInfos(LengthMethod method) {
    switch (method) {
    case LengthMethod::Fixed:
        return {lengthInfo("Draft length", "Tokens of a draft.")};
    case LengthMethod::FiniteState:
        return {lengthInfo("First draft length", "Tokens of an answer's first draft."),
                longestDraftSetting(kUsualLongest, kMostLength)};
    case LengthMethod::Adaptive:
        return thresholdInfos();
    }
    return {};
}

/// The published constants of both ways to look at acceptance.
std::vector<SettingProfile> thresholdProfiles() {
    return {{"del",
             "As the baseline of DEL: cumulative acceptance, target .8, at most 18 tokens.",
             {{"acceptance", std::string("cumulative")}, {"a", 0.8}, {"max_draft", 18.0}}},
            {"draft_and_verify",
             "As Draft & Verify: acceptance per round, target .9, at most 12 tokens.",
             {{"acceptance", std::string(kPerRound)}, {"a", 0.9}, {"max_draft", 12.0}}}};
}

AdaptiveThresholdOptions thresholdOptions(const SettingValues& values) {
    AdaptiveThresholdOptions options = thresholdOf(values);
    options.acceptance = textOf(values, "acceptance") == kPerRound ? AcceptanceMeaning::PerRound
                                                                   : AcceptanceMeaning::Cumulative;
    return options;
}

Result<int> exitLayersOf(const SettingValues& values, const ModelConfig& config) {
    const int layerCount = config.layerCount;
    if (layerCount < 2)
        return Error{ErrorCode::Unsupported,
                     "This model has only one layer, and an early exit needs at least two.",
                     "Choose another decoder, such as lookup."};
    const int usual = config.tunedExit > 0 ? config.tunedExit : std::max(layerCount / 4, 1);
    ENGINE_TRY(const int wanted,
               exitLayerOf(values, layerCount, fmt::format("exit_layer=0 chooses {}.", usual)));
    return wanted == 0 ? usual : wanted;
}

} // namespace

Result<LayerSkipSettings> LayerSkipSettings::make(LengthMethod method,
                                                  const SettingValues& values,
                                                  const ModelConfig& config) {
    LayerSkipSettings made;
    ENGINE_TRY(made.exitLayers, exitLayersOf(values, config));
    made.rule = verifyRuleOf(values);
    made.sharesNoise = flagOf(values, "shared_noise");
    made.vocabularyShare = numberOf(values, "draft_vocabulary");
    made.startsFromPrompt = flagOf(values, "fused_start");
    if (method == LengthMethod::Adaptive)
        made.threshold = thresholdOptions(values);
    else
        made.length = integerOf(values, "length");
    made.maxLength = method == LengthMethod::Fixed ? made.length : integerOf(values, "max_draft");
    made.length = std::min(made.length, made.maxLength);
    return made;
}

DecoderInfo layerSkipInfo(LengthMethod method) {
    DecoderInfo info;
    info.source = "arXiv 2404.16710";
    info.settings = commonInfos();
    appendSettings(info.settings, lengthInfos(method));
    const char* length = "";
    switch (method) {
    case LengthMethod::Fixed:
        info.name = "layerskip";
        info.title = "LayerSkip";
        info.summary = "Drafts with the first layers and checks with the others; all drafts have "
                       "one length.";
        length = "Every draft has the same length, which must suit model and text.";
        break;
    case LengthMethod::FiniteState:
        info.name = "layerskip-fs";
        info.title = "LayerSkip FS";
        info.summary = "LayerSkip whose drafts grow while they are accepted as a whole, and "
                       "otherwise shrink.";
        length = "A draft is one token longer than the one before it if that was accepted as a "
                 "whole, otherwise one shorter, so the length follows how easy the text is.";
        break;
    case LengthMethod::Adaptive:
        info.name = "layerskip-dv";
        info.title = "LayerSkip DV";
        info.summary =
            "LayerSkip whose drafts end where the exit is unsure; the acceptance decides how "
            "sure it must be.";
        length = "A draft ends after the first token at which the exit is unsure. How sure it must "
                 "be follows the share of drafted tokens that was accepted: it rises by small "
                 "steps while that is below its target, and falls while it is above.";
        info.profiles = thresholdProfiles();
        break;
    }
    info.explanation = fmt::format("{}{}{}", kHowItWorks, length, kWhenItHelps);
    return info;
}

} // namespace layerskip
