// SPDX-License-Identifier: Apache-2.0
#include "plugins/self_sd/self_sd_settings.h"

#include "engine/decoding/setting_makers.h"

#include <array>
#include <utility>

namespace self_sd {

using namespace engine;

namespace {

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
        ENGINE_TRY(const JsonDocument document, JsonDocument::parse(text, "the setting skip_set"));
        ENGINE_TRY(made.manualSet, readSkipSet(document.root(), "The setting skip_set"));
    }
    return made;
}

/// Every setting acts from the next round on: none belongs to a search.
SettingInfo with(SettingInfo info, const char* unit, const char* meaning) {
    return describedSetting(std::move(info), unit, SettingEffect::NextStep, meaning);
}

std::vector<SettingInfo> planInfos() {
    return {
        with(choiceSetting("start", "Skip set from", sourceNames()),
             "",
             "library: stored for this task by an earlier search; last: stored last; published: "
             "entry; manual: skip_set; uniform: even distances at r. Without a set, uniform."),
        with(textSetting("skip_set", "Manual skip set", ""),
             "",
             "For start=manual: {\"attention\":[...],\"mlp\":[...]}, 0-based layers, the first "
             "and the last one too."),
        with(textSetting("entry", "Published set", ""),
             "",
             "For start=published: its name, as llama-2-13b; may be left out when only one fits."),
        with(numberSetting("r", "Skip ratio r", 0.43, {0.0, 1.0}),
             "",
             "Share of all sublayers that the uniform set leaves out."),
    };
}

std::vector<SettingInfo> thresholdInfos() {
    return {
        with(numberSetting("th", "Confidence threshold", 0.6, {0.0, 1.0}),
             "",
             "A draft ends behind its first token that is less probable; where it starts from "
             "when it adapts."),
        with(flagSetting("adapt", "Adaptive threshold", true),
             "",
             "The threshold follows the acceptance rate, from answer to answer; off: it stays."),
        with(numberSetting("a", "Target acceptance a", 0.9, {0.0, 1.0}),
             "",
             "The threshold rises while less of the drafts is accepted; .85 and .9 are usual."),
        with(numberSetting("step", "Threshold step", 0.01, {0.0, 1.0}),
             "",
             "How far the threshold wants to move in a round."),
        with(numberSetting("beta1", "Memory of the acceptance β1", 0.5, {0.0, 1.0}),
             "",
             "Share of the smoothed acceptance that a round keeps; each answer begins at 0."),
        with(numberSetting("beta2", "Memory of the threshold β2", 0.9, {0.0, 1.0}),
             "",
             "Share of the threshold that a round keeps."),
        with(integerSetting("max_draft", "Longest draft", 12, {1, 512}),
             "tokens",
             "Tokens of a draft at most."),
    };
}

std::vector<SettingInfo> verificationInfos() {
    return {
        with(choiceSetting("verification", "Verification", {"match", "rejection"}),
             "",
             "match gives vanilla's own tokens, rejection tokens of vanilla's own law."),
        with(flagSetting("shared_noise", "Shared noise", true),
             "",
             "Sampled drafts are drawn with vanilla's own random numbers; off takes the most "
             "probable token."),
        with(flagSetting("dynamic_verification", "Dynamic verification", false),
             "",
             "On: drafts are SWIFT's trees with siblings, and epsilon replaces the threshold."),
        with(numberSetting("epsilon", "Confidence threshold ε", 0.8, {0.0, 1.0}),
             "",
             "With dynamic_verification: a draft ends behind its first token that is less "
             "probable than this."),
        with(textSetting("siblings", "Siblings", "1,3,5,10"),
             "",
             "With dynamic_verification: choices kept at a confidence above .95, .8, .5 and "
             "below."),
        with(integerSetting("tree_nodes", "Draft tree nodes", 0, {0, 1024}),
             "nodes",
             "With dynamic_verification: nodes of a draft tree at most; 0 = what suits the "
             "backend."),
    };
}

} // namespace

Result<SelfSdSettings> SelfSdSettings::make(const SettingValues& values, int preferredTreeNodes) {
    SelfSdSettings made;
    ENGINE_TRY(made.plan, planSettings(values));
    made.isDynamic = flagOf(values, "dynamic_verification");
    made.epsilon = numberOf(values, "epsilon");
    ENGINE_TRY(const SiblingSchedule siblings, SiblingSchedule::parse(textOf(values, "siblings")));
    const int nodes = integerOf(values, "tree_nodes");
    const int maxDraft = integerOf(values, "max_draft");
    made.draft.siblings = made.isDynamic ? siblings : SiblingSchedule();
    if (made.isDynamic)
        made.draft.maxNodes = nodes == 0 ? preferredTreeNodes : nodes;
    else
        made.draft.maxNodes = maxDraft; // else a chain could never reach its full length
    made.draft.rule =
        textOf(values, "verification") == "rejection" ? VerifyRule::Rejection : VerifyRule::Match;
    made.draft.sharesNoise = flagOf(values, "shared_noise");
    made.threshold = {.threshold = numberOf(values, "th"),
                      .maxSteps = maxDraft,
                      .targetAcceptance = numberOf(values, "a"),
                      .stepSize = numberOf(values, "step"),
                      .acceptanceMemory = numberOf(values, "beta1"),
                      .thresholdMemory = numberOf(values, "beta2"),
                      .adapts = flagOf(values, "adapt")};
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
        "the draft is sure of itself; how sure it must be moves with how much was accepted: up "
        "when too many drafts are wasted, down when nearly all are taken. It helps where a good "
        "set for this model and task is known, because nothing is searched while it works. "
        "Without one it leaves sublayers out at even distances, which most models answer with "
        "wrong drafts: then each round costs more than its tokens are worth.";
    for (auto group : {planInfos(), thresholdInfos(), verificationInfos()})
        for (SettingInfo& setting : group)
            info.settings.push_back(std::move(setting));
    return info;
}

} // namespace self_sd
