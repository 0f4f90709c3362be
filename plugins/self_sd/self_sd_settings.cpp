// SPDX-License-Identifier: Apache-2.0
#include "plugins/self_sd/self_sd_settings.h"

#include "engine/base/setting_makers.h"
#include "engine/decoding/drafts/draft_settings.h"

#include <array>
#include <utility>

namespace self_sd {

using namespace engine;

namespace {

constexpr int kMostLength = 512;

constexpr std::array kSources = {std::pair("library", PlanSource::Library),
                                 std::pair("last", PlanSource::Last),
                                 std::pair("published", PlanSource::Published),
                                 std::pair("manual", PlanSource::Manual),
                                 std::pair("uniform", PlanSource::Uniform)};

std::vector<std::string> sourceNames() {
    std::vector<std::string> names;
    for (const auto& [name, source] : kSources)
        names.emplace_back(name);
    return names;
}

PlanSource sourceNamed(const std::string& name) {
    for (const auto& [known, source] : kSources)
        if (name == known)
            return source;
    ENGINE_CHECK(false, "no plan source {}", name);
    return PlanSource::Library;
}

Result<PlanSettings> planSettings(const SettingValues& values) {
    PlanSettings made;
    made.source = sourceNamed(textOf(values, "start"));
    made.entry = textOf(values, "entry");
    made.ratio = numberOf(values, "r");
    if (const std::string& text = textOf(values, "skip_set"); !text.empty()) {
        ENGINE_TRY(made.manualSet, typedSkipSet(text, "the setting skip_set"));
    }
    return made;
}

std::vector<SettingInfo> planInfos() {
    return {
        stepSetting(
            choiceSetting("start", "Skip set from", sourceNames()),
            "",
            "library: stored for this task by an earlier search; last: stored last; published: "
            "entry; manual: skip_set; uniform: even distances at r. Without a set, uniform."),
        stepSetting(
            textSetting("skip_set", "Manual skip set", ""),
            "",
            "For start=manual: {\"attention\":[...],\"mlp\":[...]}, 0-based layers, the first "
            "and the last one too."),
        stepSetting(
            textSetting("entry", "Published set", ""),
            "",
            "For start=published: its name, as llama-2-13b; may be left out when only one fits."),
        stepSetting(numberSetting("r", "Skip ratio r", 0.43, {0.0, 1.0}),
                    "",
                    "Share of all sublayers that the uniform set leaves out."),
    };
}

std::vector<SettingInfo> verificationInfos() {
    return {
        verificationSetting(),
        sharedNoiseSetting(),
        stepSetting(
            flagSetting("dynamic_verification", "Dynamic verification", false),
            "",
            "On: drafts are SWIFT's trees with siblings, and epsilon replaces the threshold."),
        stepSetting(numberSetting("epsilon", "Confidence threshold ε", 0.8, {0.0, 1.0}),
                    "",
                    "With dynamic_verification: a draft ends after its first token that is less "
                    "probable than this."),
        stepSetting(textSetting("siblings", "Siblings", kSwiftSiblings),
                    "",
                    "With dynamic_verification: choices kept at a confidence above .95, .8, .5 and "
                    "below."),
        stepSetting(
            integerSetting("tree_nodes", "Draft tree nodes", 0, {0, 1024}),
            "nodes",
            "With dynamic_verification: a draft tree has at most so many nodes; 0 = as many "
            "as suit the backend and, once it is measured, the cost of a row."),
    };
}

} // namespace

Result<SelfSdSettings> SelfSdSettings::make(const SettingValues& values) {
    SelfSdSettings made;
    ENGINE_TRY(made.plan, planSettings(values));
    made.isDynamic = flagOf(values, "dynamic_verification");
    made.epsilon = numberOf(values, "epsilon");
    made.threshold = thresholdOf(values);
    ENGINE_TRY(const SiblingSchedule siblings, SiblingSchedule::parse(textOf(values, "siblings")));
    made.draft.siblings = made.isDynamic ? siblings : SiblingSchedule();
    // With fewer nodes a chain could never reach its full length.
    made.draft.maxNodes =
        made.isDynamic ? integerOf(values, "tree_nodes") : made.threshold.maxSteps;
    made.draft.rule = verifyRuleOf(values);
    made.draft.sharesNoise = flagOf(values, "shared_noise");
    return made;
}

DecoderInfo selfSdInfo() {
    DecoderInfo info;
    info.name = "self_sd";
    info.title = "Self-SD";
    info.summary = "Drafts with a skip set that was found before, verifies with all layers, and "
                   "adapts how sure a draft must be to go on.";
    info.source = "arXiv 2309.08168";
    info.explanation =
        "The model drafts with a fixed skip set that was found before, by the command search or "
        "for an earlier answer, and reads the draft once with all layers. Drafting goes on while "
        "the draft is sure of itself. How sure it must be depends on how much was accepted: the "
        "bar rises when too many drafts are wasted, and falls when nearly all are accepted. It "
        "helps where a good set for this model and task is known, because nothing is searched "
        "while it works. Without one, it skips sublayers at even distances, and most models then "
        "draft wrong tokens: a round costs more than its tokens are worth.";
    info.settings = planInfos();
    appendSettings(info.settings, thresholdSettings({}, kMostLength));
    appendSettings(info.settings, verificationInfos());
    return info;
}

} // namespace self_sd
