// SPDX-License-Identifier: Apache-2.0
#include "plugins/swift/swift_settings.h"

#include "engine/base/setting_makers.h"
#include "engine/decoding/drafts/draft_settings.h"

#include <array>

namespace swift {

using namespace engine;

namespace {

struct NamedStart {
    const char* name;
    StartSet start;
};

constexpr std::array<NamedStart, 7> kStarts = {{{"uniform", StartSet::Uniform},
                                                {"odd", StartSet::Odd},
                                                {"library", StartSet::Library},
                                                {"last", StartSet::Last},
                                                {"influence", StartSet::Influence},
                                                {"stream", StartSet::Stream},
                                                {"manual", StartSet::Manual}}};

StartSet startNamed(const std::string& name) {
    for (const NamedStart& known : kStarts)
        if (name == known.name)
            return known.start;
    ENGINE_CHECK(false, "no start set {}", name);
    return StartSet::Uniform;
}

/// "published" stands for what the published code does: other widths greedy than sampling.
Result<SiblingSchedule> siblings(const SettingValues& values, bool isGreedy) {
    if (!flagOf(values, "dynamic_verification"))
        return SiblingSchedule{};
    const std::string& text = textOf(values, "siblings");
    if (text == "published")
        return SiblingSchedule{isGreedy ? std::array{3, 5, 8, 10} : std::array{1, 3, 5, 10}};
    return SiblingSchedule::parse(text);
}

Result<SkipSet> manualSet(const SettingValues& values) {
    const std::string& text = textOf(values, "skip_set");
    if (text.empty())
        return SkipSet();
    return typedSkipSet(text, "the setting skip_set");
}

constexpr SettingEffect kStep = SettingEffect::NextStep;
constexpr SettingEffect kTrial = SettingEffect::NextTrial;
constexpr SettingEffect kAnswer = SettingEffect::NextAnswer;
constexpr SettingEffect kSearch = SettingEffect::NewSearch;

std::vector<SettingInfo> mainSettings() {
    return {
        describedSetting(choiceSetting("profile", "Profile", {"paper", "code", "guided"}),
                         "",
                         kSearch,
                         "Sets the other settings together; those given by name win."),
        describedSetting(numberSetting("r", "Skip ratio r", 0.45, {0.0, 0.95}),
                         "",
                         kSearch,
                         "Share of the searchable sublayers that a draft leaves out."),
        describedSetting(integerSetting("gamma", "Context window γ", 32, {1, 512}),
                         "tokens",
                         kAnswer,
                         "Tokens of an answer on which candidates are scored."),
        describedSetting(numberSetting("epsilon", "Confidence threshold ε", 0.8, {0.0, 1.0}),
                         "",
                         kStep,
                         "A draft ends after the first token that is less probable than this."),
        describedSetting(integerSetting("beta", "Bayesian interval β", 25, {1, 10000}),
                         "trials",
                         kTrial,
                         "Every β-th trial is a Bayesian suggestion; the others are random."),
        describedSetting(integerSetting("S", "Search steps S", 1000, {0, 1000000}),
                         "trials",
                         kTrial,
                         "Trials after which a search ends."),
        describedSetting(numberSetting("stop_score", "Stop score", 0.95, {0.0, 1.0}),
                         "",
                         kTrial,
                         "Matchness above which a search ends."),
        describedSetting(integerSetting("patience", "Patience", 300, {1, 1000000}),
                         "trials",
                         kTrial,
                         "Trials without a better set after which a search ends."),
        describedSetting(integerSetting("opt_interval", "Steps per trial", 1, {1, 10000}),
                         "steps",
                         kTrial,
                         "The least number of decode steps between two trials."),
        describedSetting(
            integerSetting("rows_per_trial", "Rows per trial", 4, {1, 1000000}),
            "rows",
            kTrial,
            "The least number of rows verified between two trials; this bounds what the search "
            "costs."),
        describedSetting(
            integerSetting("quick_trials", "Quick trials", 50, {0, 1000000}),
            "trials",
            kTrial,
            "The first so many trials of a search come at this pace; later ones are rarer."),
        describedSetting(
            integerSetting("trials_to_double", "Trials to double", 4, {0, 1000000}),
            "trials",
            kTrial,
            "After the quick trials, the rows between two trials double every so many trials; 0 = "
            "they stay the same."),
    };
}

std::vector<SettingInfo> draftSettings() {
    return {
        longestDraftSetting(25, 512),
        describedSetting(integerSetting("tree_nodes", "Draft tree nodes", 0, {0, 1024}),
                         "nodes",
                         kStep,
                         "The most nodes that a draft tree may have; 0 = what suits the backend."),
        describedSetting(
            textSetting("siblings", "Siblings", "1,3,5,10"),
            "",
            kStep,
            "How many choices are kept where confidence is above .95, above .8, above .5, and "
            "below; or: published."),
        verificationSetting(),
        sharedNoiseSetting(),
        describedSetting(flagSetting("free_draft", "Free drafts first", false),
                         "",
                         kAnswer,
                         "Draft tokens that were seen before if they are likely enough, instead of "
                         "drafting with skipped layers; not with verification=rejection."),
        describedSetting(numberSetting("free_least", "Least free probability", 0.6, {0.0, 1.0}),
                         "",
                         kStep,
                         "A free draft is not used when its first token is less likely than this."),
        describedSetting(flagSetting("early_stop", "Early stop", true),
                         "",
                         kStep,
                         "Off: epsilon is ignored, and every draft has the full length."),
        describedSetting(flagSetting("dynamic_verification", "Dynamic verification", true),
                         "",
                         kStep,
                         "Off: a draft is a chain without siblings."),
        describedSetting(flagSetting("optimise", "Optimisation", true),
                         "",
                         kStep,
                         "Off: the start set is used for the whole run."),
        describedSetting(flagSetting("bayesian", "Bayesian steps", true),
                         "",
                         kTrial,
                         "Off: all candidates are random."),
    };
}

std::vector<SettingInfo> searchSettings() {
    return {
        describedSetting(
            choiceSetting("start",
                          "Start set",
                          {"uniform", "odd", "library", "last", "influence", "stream", "manual"}),
            "",
            kSearch,
            "uniform: even distances; odd: as published; library, last: stored by earlier runs for "
            "this task, or last; influence: least change of the residual stream, each for itself; "
            "stream: least "
            "change of the newest token's stream by all together; manual: skip_set."),
        describedSetting(textSetting("skip_set", "Manual skip set", ""),
                         "",
                         kSearch,
                         "For start=manual: {\"attention\":[...],\"mlp\":[...]}, 0-based layers."),
        describedSetting(
            choiceSetting("proposals", "Random proposals", {"uniform", "influence"}),
            "",
            kSearch,
            "uniform: every sublayer is equally likely to be skipped; influence: those of little "
            "influence are more likely."),
        describedSetting(
            choiceSetting("budget", "Budget", {"sublayers", "bytes"}),
            "",
            kSearch,
            "What r is a share of: the number of sublayers, or the bytes of their weights."),
        describedSetting(
            flagSetting("grow", "Growing r", false),
            "",
            kSearch,
            "Begin with r = r_min and grow towards r while matchness stays high enough."),
        describedSetting(numberSetting("grow_score", "Score to grow", 0.7, {0.0, 1.0}),
                         "",
                         kTrial,
                         "Matchness that a set must reach before a larger r is tried."),
        describedSetting(flagSetting("score_start", "Score the start set", true),
                         "",
                         kSearch,
                         "Off: the first candidate with any match replaces it, as published."),
        describedSetting(
            flagSetting("rescore", "Re-score the best set", true),
            "",
            kTrial,
            "Score it again on each new window, so that an easy window cannot lock others out."),
        describedSetting(
            numberSetting("restart_drop", "Restart when acceptance falls by", 0.15, {0.0, 1.0}),
            "",
            kStep,
            "Search again when acceptance falls by this much after a search; 0 = never."),
        describedSetting(
            numberSetting("lower_below", "Lower r below acceptance", 0.7, {0.0, 1.0}),
            "",
            kStep,
            "Lower r when acceptance over 256 drafted tokens stays below this; 0 = never."),
        describedSetting(numberSetting("r_min", "Least r", 0.05, {0.0, 0.95}),
                         "",
                         kSearch,
                         "r is never lowered below this."),
        describedSetting(numberSetting("r_step", "Step of r", 0.05, {0.01, 0.5}),
                         "",
                         kSearch,
                         "How far r is lowered or grown at a time."),
        describedSetting(
            choiceSetting("maximiser", "Maximiser", {"continuous", "discrete"}),
            "",
            kSearch,
            "Where Bayesian suggestions are looked for: in the box, or among skip sets."),
        describedSetting(flagSetting("published_ties", "Published bookkeeping", false),
                         "",
                         kSearch,
                         "On: the Bayesian search learns continuous points, ties are broken by "
                         "name, and limits are exceeded by "
                         "one, as in the published code."),
        describedSetting(integerSetting("search_seed", "Seed of the search", 1, {0, 1e9}),
                         "",
                         kSearch,
                         "The same seed gives the same trials."),
    };
}

} // namespace

Result<SwiftSettings>
SwiftSettings::make(const SettingValues& values, bool isGreedy, int preferredTreeNodes) {
    SwiftSettings made;
    SearchSettings& search = made.search;
    search.isOn = flagOf(values, "optimise");
    search.usesBayesian = flagOf(values, "bayesian");
    search.ratio = numberOf(values, "r");
    search.window = integerOf(values, "gamma");
    search.bayesianEvery = integerOf(values, "beta");
    search.maxTrials = integerOf(values, "S");
    search.stopScore = numberOf(values, "stop_score");
    search.patience = integerOf(values, "patience");
    search.stepsPerTrial = integerOf(values, "opt_interval");
    search.rowsPerTrial = integerOf(values, "rows_per_trial");
    search.quickTrials = integerOf(values, "quick_trials");
    search.trialsToDouble = integerOf(values, "trials_to_double");
    search.start = startNamed(textOf(values, "start"));
    ENGINE_TRY(search.manualSet, manualSet(values));
    search.followsInfluence = textOf(values, "proposals") == "influence";
    search.countsBytes = textOf(values, "budget") == "bytes";
    search.growsRatio = flagOf(values, "grow");
    search.growScore = numberOf(values, "grow_score");
    search.scoresStart = flagOf(values, "score_start");
    search.rescores = flagOf(values, "rescore");
    search.restartDrop = numberOf(values, "restart_drop");
    search.lowerBelow = numberOf(values, "lower_below");
    search.minimumRatio = numberOf(values, "r_min");
    search.ratioStep = numberOf(values, "r_step");
    search.isAsPublished = flagOf(values, "published_ties");
    search.maximiser = textOf(values, "maximiser") == "discrete"
                           ? BayesianMaximiser::Discrete
                           : BayesianMaximiser::ContinuousTopK;
    search.seed = static_cast<std::uint64_t>(integerOf(values, "search_seed"));
    ENGINE_TRY(made.draft.siblings, siblings(values, isGreedy));
    const int nodes = integerOf(values, "tree_nodes");
    made.draft.maxNodes = nodes == 0 ? preferredTreeNodes : nodes;
    made.draft.rule = verifyRuleOf(values);
    made.draft.sharesNoise = flagOf(values, "shared_noise");
    made.epsilon = flagOf(values, "early_stop") ? numberOf(values, "epsilon") : 0.0;
    made.maxDraft = integerOf(values, "max_draft");
    made.draftsFreely =
        flagOf(values, "free_draft") && (isGreedy || made.draft.rule == VerifyRule::Match);
    made.freeLeast = numberOf(values, "free_least");
    return made;
}

bool SwiftSettings::needsNewSearch(const SwiftSettings& next) const {
    const SearchSettings& a = search;
    const SearchSettings& b = next.search;
    return a.ratio != b.ratio || a.start != b.start || a.manualSet != b.manualSet ||
           a.followsInfluence != b.followsInfluence || a.countsBytes != b.countsBytes ||
           a.growsRatio != b.growsRatio || a.scoresStart != b.scoresStart ||
           a.minimumRatio != b.minimumRatio || a.ratioStep != b.ratioStep ||
           a.maximiser != b.maximiser || a.isAsPublished != b.isAsPublished || a.seed != b.seed;
}

DecoderInfo swiftInfo() {
    DecoderInfo info;
    info.name = "swift";
    info.title = "SWIFT";
    info.summary = "Drafts with some attention and MLP sublayers skipped, verifies with all of "
                   "them, and searches for a good skip set while it decodes.";
    info.source = "arXiv 2410.06916";
    info.explanation =
        "The model drafts a few tokens with some of its own attention and MLP sublayers left out, "
        "then reads the whole draft once with all of them and keeps what it would have written "
        "itself, and one token of its own after that. Where it is unsure it drafts several "
        "choices side by side. Which sublayers may be left out is found while it works: "
        "candidates are tried on the first tokens of the answer, at random and then by a Bayesian "
        "search, and the one that predicts most of them is used. It helps on large models, where "
        "a draft pass costs well under a full one and still agrees with it, and on long or "
        "similar tasks, where the search pays back. On small models there is little to leave out: "
        "a draft that costs much or is often wrong loses time, and the text is the same either "
        "way.";
    info.lockedLayers = {0, -1}; // as SkipSpace::inner
    info.settings = mainSettings();
    appendSettings(info.settings, draftSettings());
    appendSettings(info.settings, searchSettings());
    info.profiles = {
        {"paper",
         "As the paper means it: scores the start set, re-scores on new windows, restarts "
         "when acceptance falls, lowers r when it stays low.",
         {}},
        {"code",
         "As published: odd layers first, unscored; no re-scoring, restart or lowering.",
         {{"start", std::string("odd")},
          {"siblings", std::string("published")},
          {"rows_per_trial", 1.0},
          {"trials_to_double", 0.0},
          {"score_start", 0.0},
          {"rescore", 0.0},
          {"restart_drop", 0.0},
          {"lower_below", 0.0},
          {"published_ties", 1.0}}},
        {"guided",
         "Beyond the paper: sublayers of little influence first, cost in bytes, r grows "
         "from small.",
         {{"start", std::string("influence")},
          {"proposals", std::string("influence")},
          {"budget", std::string("bytes")},
          {"grow", 1.0},
          {"maximiser", std::string("discrete")},
          {"rows_per_trial", 32.0},
          {"quick_trials", 10.0},
          {"trials_to_double", 8.0}}},
    };
    return info;
}

} // namespace swift
