// SPDX-License-Identifier: Apache-2.0
#include "plugins/clasp/clasp_settings.h"

#include "engine/base/setting_makers.h"
#include "engine/decoding/drafts/draft_settings.h"

#include <algorithm>
#include <utility>

namespace clasp {

using namespace engine;

namespace {

constexpr int kMostLayers = 4096;
constexpr int kMostLength = 64;
constexpr int kMostReferences = 16;

/// Of the inner layers; the papers leave out about half.
constexpr double kUsualPart = 0.45;

std::vector<SettingInfo> budgetInfos(Method method) {
    if (method == Method::Clasp)
        return {stepSetting(integerSetting("skipped", "Skipped layers", 0, {0, kMostLayers}),
                            "layers",
                            "Whole layers that a set leaves out; 0 = 45 % of those between the "
                            "first and the last one.")};
    return {stepSetting(numberSetting("most", "Largest skip ratio", 0.5, {0.0, 0.95}),
                        "",
                        "A set leaves out at most this share of what the sublayers between the "
                        "first and the last layer cost; the expected speed decides how much.")};
}

std::vector<SettingInfo> commonInfos(int interval) {
    return {
        stepSetting(integerSetting("interval", "Update interval", interval, {1, 1000000}),
                    "rounds",
                    "Rounds after which the set is looked for again: neighbouring tokens have "
                    "similar sets."),
        stepSetting(
            integerSetting("references", "Reference tokens", 1, {1, kMostReferences}),
            "tokens",
            "The newest tokens whose streams a set must keep. Each one costs as many passes."),
        stepSetting(flagSetting("check", "Check a set before use", true),
                    "",
                    "A new set replaces another only if it predicts the newest 16 tokens of the "
                    "answer better. Off: it is used at once, as published."),
        stepSetting(numberSetting("confidence", "Confidence threshold", 0.7, {0.0, 1.0}),
                    "",
                    "A draft ends after the first token that is less probable than this."),
        longestDraftSetting(10, kMostLength),
        verificationSetting(),
        sharedNoiseSetting(),
    };
}

constexpr const char* kHowItWorks =
    "It follows the newest token once more through the network, sublayer by sublayer, and keeps "
    "for every number of skipped parts the choice that leaves the token's residual stream nearest "
    "to the full model's. This finds the sets of all sizes at once, for the time of a few steps, "
    "without any trial. Drafts are made without the parts chosen, and the full model checks them. ";

constexpr const char* kWhenItHelps =
    " It helps large models, of which many layers change little; a small model such as the default "
    "one has hardly any to spare, and then most drafts are wrong and cost time.";

Error impossible(std::string message, std::string hint) {
    return Error{ErrorCode::InvalidInput, std::move(message), std::move(hint)};
}

} // namespace

Result<ClaspSettings>
ClaspSettings::make(Method method, const SettingValues& values, int layerCount) {
    const int inner = layerCount - 2;
    if (inner < 1)
        return Error{ErrorCode::Unsupported,
                     fmt::format("This model has {} layer{}, and the first and the last layer "
                                 "always run, so there is none to skip.",
                                 layerCount,
                                 layerCount == 1 ? "" : "s"),
                     "Choose another decoder, such as lookup."};
    ClaspSettings made;
    if (method == Method::Clasp) {
        const int wanted = integerOf(values, "skipped");
        if (wanted > inner)
            return impossible(fmt::format("The setting skipped asks for {} layers, but this model "
                                          "has only {} between its first and its last one.",
                                          wanted,
                                          inner),
                              fmt::format("Choose skipped from 1 to {}, or 0 for 45 %.", inner));
        made.skipped = wanted == 0 ? std::max(static_cast<int>(kUsualPart * inner), 1) : wanted;
    } else {
        made.most = numberOf(values, "most");
        const double least = 1.0 / (2.0 * inner);
        if (made.most < least)
            return impossible(fmt::format("With most={:g} no sublayer can be left out: this model "
                                          "has {} between its first and its last layer.",
                                          made.most,
                                          2 * inner),
                              fmt::format("Choose most from {:.3f} to 0.95.", least + 5e-4));
    }
    made.interval = integerOf(values, "interval");
    made.references = integerOf(values, "references");
    made.checks = flagOf(values, "check");
    made.confidence = numberOf(values, "confidence");
    made.longest = integerOf(values, "max_draft");
    made.rule = verifyRuleOf(values);
    made.sharesNoise = flagOf(values, "shared_noise");
    return made;
}

DecoderInfo claspInfo(Method method) {
    const bool isClasp = method == Method::Clasp;
    DecoderInfo info;
    info.name = isClasp ? "clasp" : "knapspec";
    info.title = isClasp ? "CLaSp" : "KnapSpec";
    info.source = isClasp ? "arXiv 2505.24196" : "arXiv 2602.20217";
    info.summary = isClasp ? "Drafts without the layers that change the newest token's stream "
                             "least, found anew every 128 rounds."
                           : "Drafts without the sublayers that change the newest token's stream "
                             "least for what they cost; the expected speed decides how many.";
    info.explanation = fmt::format(
        "{}{}{}",
        kHowItWorks,
        isClasp ? "The parts are whole layers, as many as you say."
                : "The parts are attention and MLP sublayers, weighted by what they cost here at "
                  "the present length of the text; of all sizes the one is used that promises the "
                  "most tokens in the same time.",
        kWhenItHelps);
    info.lockedLayers = {0, -1}; // as SkipSpace::inner
    info.settings = budgetInfos(method);
    appendSettings(info.settings, commonInfos(isClasp ? 128 : 64));
    return info;
}

} // namespace clasp
