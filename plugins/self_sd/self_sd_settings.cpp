// SPDX-License-Identifier: Apache-2.0
#include "plugins/self_sd/self_sd_settings.h"

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

/// How a setting's value is written down and bounded.
SettingInfo
bounded(SettingKind kind, const char* name, double initial, std::array<double, 2> range) {
    SettingInfo info;
    info.name = name;
    info.kind = kind;
    info.initial = initial;
    info.minimum = range[0];
    info.maximum = range[1];
    return info;
}

SettingInfo number(const char* name, double initial, std::array<double, 2> range) {
    return bounded(SettingKind::Number, name, initial, range);
}

SettingInfo integer(const char* name, double initial, std::array<double, 2> range) {
    return bounded(SettingKind::Integer, name, initial, range);
}

SettingInfo flag(const char* name, bool initial) {
    return bounded(SettingKind::Flag, name, initial ? 1.0 : 0.0, {0.0, 1.0});
}

SettingInfo choice(const char* name, std::vector<std::string> choices) {
    SettingInfo info;
    info.name = name;
    info.kind = SettingKind::Choice;
    info.initial = choices.front();
    info.choices = std::move(choices);
    return info;
}

SettingInfo text(const char* name, const char* initial) {
    SettingInfo info;
    info.name = name;
    info.kind = SettingKind::Text;
    info.initial = std::string(initial);
    return info;
}

/// Every setting acts from the next round on: none belongs to a search.
SettingInfo with(SettingInfo info, const char* title, const char* unit, const char* meaning) {
    info.title = title;
    info.unit = unit;
    info.effect = SettingEffect::NextStep;
    info.meaning = meaning;
    return info;
}

std::vector<SettingInfo> planInfos() {
    return {
        with(choice("start", sourceNames()),
             "Skip set from",
             "",
             "library: stored for this task by an earlier search; last: stored last; published: "
             "entry; manual: skip_set; uniform: even distances at r. Without a set, uniform."),
        with(text("skip_set", ""),
             "Manual skip set",
             "",
             "For start=manual: {\"attention\":[...],\"mlp\":[...]}, 0-based layers, the first "
             "and the last one too."),
        with(text("entry", ""),
             "Published set",
             "",
             "For start=published: its name, as llama-2-13b; may be left out when only one fits."),
        with(number("r", 0.43, {0.0, 1.0}),
             "Skip ratio r",
             "",
             "Share of all sublayers that the uniform set leaves out."),
    };
}

std::vector<SettingInfo> thresholdInfos() {
    return {
        with(number("th", 0.6, {0.0, 1.0}),
             "Confidence threshold",
             "",
             "A draft ends behind its first token that is less probable; where it starts from "
             "when it adapts."),
        with(flag("adapt", true),
             "Adaptive threshold",
             "",
             "The threshold follows the acceptance rate, from answer to answer; off: it stays."),
        with(number("a", 0.9, {0.0, 1.0}),
             "Target acceptance a",
             "",
             "The threshold rises while less of the drafts is accepted; .85 and .9 are usual."),
        with(number("step", 0.01, {0.0, 1.0}),
             "Threshold step",
             "",
             "How far the threshold wants to move in a round."),
        with(number("beta1", 0.5, {0.0, 1.0}),
             "Memory of the acceptance β1",
             "",
             "Share of the smoothed acceptance that a round keeps; each answer begins at 0."),
        with(number("beta2", 0.9, {0.0, 1.0}),
             "Memory of the threshold β2",
             "",
             "Share of the threshold that a round keeps."),
        with(integer("max_draft", 12, {1, 512}),
             "Longest draft",
             "tokens",
             "Tokens of a draft at most."),
    };
}

std::vector<SettingInfo> verificationInfos() {
    return {
        with(choice("verification", {"match", "rejection"}),
             "Verification",
             "",
             "match gives vanilla's own tokens, rejection tokens of vanilla's own law."),
        with(flag("shared_noise", true),
             "Shared noise",
             "",
             "Sampled drafts are drawn with vanilla's own random numbers; off takes the most "
             "probable token."),
        with(flag("dynamic_verification", false),
             "Dynamic verification",
             "",
             "On: drafts are SWIFT's trees with siblings, and epsilon replaces the threshold."),
        with(number("epsilon", 0.8, {0.0, 1.0}),
             "Confidence threshold ε",
             "",
             "With dynamic_verification: a draft ends behind its first token that is less "
             "probable than this."),
        with(text("siblings", "1,3,5,10"),
             "Siblings",
             "",
             "With dynamic_verification: choices kept at a confidence above .95, .8, .5 and "
             "below."),
        with(integer("tree_nodes", 0, {0, 1024}),
             "Draft tree nodes",
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
    for (auto group : {planInfos(), thresholdInfos(), verificationInfos()})
        for (SettingInfo& setting : group)
            info.settings.push_back(std::move(setting));
    return info;
}

} // namespace self_sd
