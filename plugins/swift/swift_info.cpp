// SPDX-License-Identifier: Apache-2.0
#include "engine/base/setting_makers.h"
#include "engine/decoding/drafts/draft_settings.h"
#include "plugins/swift/swift_settings.h"

namespace swift {

using namespace engine;

namespace {

constexpr double kOn = 1.0;

/// Holds 25 steps of 10 choices each, the widest tree of the paper without early stopping.
constexpr double kWidestTree = 250.0;

SettingInfo profileSetting() {
    return searchSetting(choiceSetting("profile", "Profile", {"ours", "paper", "code", "guided"}),
                         "",
                         "Sets the other settings together; those given by name win.");
}

std::vector<SettingInfo> draftSettings() {
    return {
        neededSetting(
            "early_stop",
            kOn,
            stepSetting(
                numberSetting("epsilon", "Confidence threshold ε", kSwiftEpsilon, {0.0, 1.0}),
                "",
                "A draft ends after the first token that is less probable than "
                "this.")),
        longestDraftSetting(kSwiftLongestDraft, 512),
        neededSetting(
            "dynamic_verification",
            kOn,
            stepSetting(
                textSetting("siblings", "Siblings", kSwiftSiblings),
                "",
                "How many choices are kept where confidence is above .95, above .8, above .5, and "
                "below; or: published.")),
        stepSetting(flagSetting("early_stop", "Early stop", true),
                    "",
                    "Off: epsilon is ignored, and every draft has the full length."),
        stepSetting(flagSetting("dynamic_verification", "Dynamic verification", true),
                    "",
                    "Off: a draft is a chain without siblings."),
        verificationSetting(),
    };
}

std::vector<SettingInfo> searchSettings() {
    return {
        searchSetting(numberSetting("r", "Skip ratio r", 0.45, {0.0, 0.95}),
                      "",
                      "Share of the searchable sublayers that a draft leaves out."),
        answerSetting(integerSetting("gamma", "Context window γ", 32, {1, 512}),
                      "tokens",
                      "Tokens of an answer on which candidates are scored."),
        neededSetting(
            "bayesian",
            kOn,
            trialSetting(integerSetting("beta", "Bayesian interval β", 25, {1, 10000}),
                         "trials",
                         "Every β-th trial is a Bayesian suggestion; the others are random.")),
        trialSetting(integerSetting("opt_interval", "Steps per trial", 1, {1, 10000}),
                     "steps",
                     "The least number of decode steps between two trials."),
        stepSetting(flagSetting("optimise", "Optimisation", true),
                    "",
                    "Off: the start set is used for the whole run."),
        trialSetting(
            flagSetting("bayesian", "Bayesian steps", true), "", "Off: all candidates are random."),
        searchSetting(
            choiceSetting("start",
                          "Start set",
                          {"stream", "uniform", "odd", "library", "last", "influence", "manual"}),
            "",
            "stream: least change of the newest token's stream by all together, which costs "
            "about five plain steps on 30 layers and ten on 60, or another task's set that has "
            "reached the stop score; uniform: even distances; odd: as "
            "published; library, last: stored by earlier runs for this task, or last; influence: "
            "least change "
            "of the residual stream, each for itself; manual: skip_set."),
        neededSetting(
            "start",
            std::string("manual"),
            searchSetting(
                textSetting("skip_set", "Manual skip set", ""),
                "",
                "For start=manual: {\"attention\":[...],\"mlp\":[...]}, 0-based layers.")),
        searchSetting(flagSetting("published_ties", "Published bookkeeping", false),
                      "",
                      "On: the Bayesian search learns continuous points, ties are broken by "
                      "name, and limits are exceeded by one, as in the published code."),
        searchSetting(integerSetting("search_seed", "Seed of the search", 1, {0, 1e9}),
                      "",
                      "The same seed gives the same trials."),
    };
}

std::vector<SettingInfo> stopSettings() {
    return {
        trialSetting(integerSetting("S", "Search steps S", 1000, {0, 1000000}),
                     "trials",
                     "Trials after which a search ends."),
        trialSetting(numberSetting("stop_score", "Stop score", 0.95, {0.0, 1.0}),
                     "",
                     "Matchness above which a search ends."),
        trialSetting(integerSetting("patience", "Patience", 300, {1, 1000000}),
                     "trials",
                     "Trials without a better set after which a search ends."),
    };
}

/// What the paper does not have: how dear the search may become, and how it reacts.
std::vector<SettingInfo> addedSearchSettings() {
    return {
        trialSetting(
            integerSetting("rows_per_trial", "Rows per trial", 4, {1, 1000000}),
            "rows",
            "The least number of rows verified between two trials; this bounds what the search "
            "costs. 1 = a trial after every step, as in the paper."),
        trialSetting(
            integerSetting("quick_trials", "Quick trials", 50, {0, 1000000}),
            "trials",
            "The first so many trials of a search come at this pace; later ones are rarer."),
        trialSetting(
            integerSetting("trials_to_double", "Trials to double", 4, {0, 1000000}),
            "trials",
            "After the quick trials, the rows between two trials double every so many trials; 0 = "
            "they stay the same."),
        trialSetting(
            numberSetting("search_share", "Share of the search", kSwiftSearchShare, {0.0, 10.0}),
            "",
            "The most time that trials take, as a share of the time of drafting and verifying; "
            "where the best set matches more than half of the tokens, less, as less is left to "
            "find. 0 = any."),
        trialSetting(flagSetting("short_windows", "Short windows", true),
                     "",
                     "On: an answer too short for a whole window still gives a few trials on "
                     "the tokens that it has."),
        searchSetting(flagSetting("score_start", "Score the start set", true),
                      "",
                      "Off: the first candidate with any match replaces it, as published."),
        trialSetting(
            flagSetting("rescore", "Re-score the best set", true),
            "",
            "Score it again on each new window, so that an easy window cannot lock others out."),
        stepSetting(
            numberSetting("restart_drop", "Restart when acceptance falls by", 0.15, {0.0, 1.0}),
            "",
            "Search again when acceptance falls by this much after a search; 0 = never."),
        stepSetting(numberSetting("lower_below", "Lower r below acceptance", 0.7, {0.0, 1.0}),
                    "",
                    "Lower r when acceptance over 256 drafted tokens stays below this; 0 = never."),
        searchSetting(numberSetting("r_min", "Least r", 0.05, {0.0, 0.95}),
                      "",
                      "r is never lowered below this, and grows from here."),
        searchSetting(numberSetting("r_step", "Step of r", 0.05, {0.01, 0.5}),
                      "",
                      "How far r is lowered or grown at a time."),
        searchSetting(flagSetting("grow", "Growing r", false),
                      "",
                      "Begin with r = r_min and grow towards r while matchness stays high enough."),
        neededSetting("grow",
                      kOn,
                      trialSetting(numberSetting("grow_score", "Score to grow", 0.7, {0.0, 1.0}),
                                   "",
                                   "Matchness that a set must reach before a larger r is tried.")),
        searchSetting(
            choiceSetting("proposals", "Random proposals", {"uniform", "influence"}),
            "",
            "uniform: every sublayer is equally likely to be skipped; influence: those of little "
            "influence are more likely."),
        searchSetting(
            choiceSetting("budget", "Budget", {"sublayers", "bytes"}),
            "",
            "What r is a share of: the number of sublayers, or the bytes of their weights."),
        neededSetting(
            "bayesian",
            kOn,
            searchSetting(
                choiceSetting("maximiser", "Maximiser", {"continuous", "discrete"}),
                "",
                "Where Bayesian suggestions are looked for: in the box, or among skip sets.")),
    };
}

std::vector<SettingInfo> addedDraftSettings() {
    return {
        stepSetting(integerSetting("tree_nodes", "Draft tree nodes", 0, {0, 1024}),
                    "nodes",
                    "The most nodes that a draft tree may have; 0 = what suits the backend."),
        neededSetting(
            "early_stop",
            kOn,
            stepSetting(flagSetting("calibrate", "Calibrated threshold", true),
                        "",
                        "Drafts go on below ε where tokens of such confidence were accepted at a "
                        "rate of ε or more.")),
        stepSetting(flagSetting("weigh", "Weigh time", true),
                    "",
                    "A draft ends, and gets no sibling, where its time would give more tokens when "
                    "spent otherwise, as measured in this run. How many steps an answer takes then "
                    "depends on the machine, its text does not, unless rejection draws it."),
        draftVocabularySetting(kDraftVocabulary),
        sharedNoiseSetting(),
        answerSetting(flagSetting("free_draft", "Free drafts first", false),
                      "",
                      "Draft tokens that were seen before if they are likely enough, instead of "
                      "drafting with skipped layers; not with verification=rejection."),
        neededSetting(
            "free_draft",
            kOn,
            stepSetting(numberSetting("free_least", "Least free probability", 0.6, {0.0, 1.0}),
                        "",
                        "A free draft is not used when its first token is less likely than this.")),
    };
}

/// Everything that goes beyond the paper is off.
SettingValues withoutAdditions() {
    return {{"tree_nodes", kWidestTree},
            {"calibrate", 0.0},
            {"weigh", 0.0},
            {"draft_vocabulary", 1.0},
            {"rows_per_trial", 1.0},
            {"trials_to_double", 0.0},
            {"search_share", 0.0},
            {"short_windows", 0.0},
            {"rescore", 0.0},
            {"restart_drop", 0.0},
            {"lower_below", 0.0}};
}

SettingProfile paperProfile() {
    SettingProfile profile{
        "paper",
        "The paper's algorithm without our additions: a trial after every step until S, patience "
        "or the "
        "stop score ends the search; drafts of up to 25 steps in a tree that holds all their "
        "siblings; the most probable token is drafted. The uniform set is scored first, so that "
        "candidates have something to beat. The Bayesian search computes with fewer points and "
        "draws, as that of code.",
        withoutAdditions()};
    profile.values["start"] = std::string("uniform");
    profile.values["shared_noise"] = 0.0;
    return profile;
}

SettingProfile codeProfile() {
    SettingProfile profile{
        "code",
        "As the published scripts: odd layers first, unscored; limits exceeded by one; their "
        "widths of siblings. These differences are left: the length scale of the Gaussian process "
        "is fitted at every fourth suggestion and not at each, the process keeps 256 points and "
        "not all, a suggestion begins with 2,000 draws and not 10,000, no trial follows the last "
        "step of an answer, and drawn tokens are verified so that vanilla's own come out.",
        withoutAdditions()};
    profile.values["start"] = std::string("odd");
    profile.values["siblings"] = std::string("published");
    profile.values["score_start"] = 0.0;
    profile.values["published_ties"] = kOn;
    return profile;
}

} // namespace

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
    info.settings = {profileSetting()};
    appendGroup(info.settings, "Draft", draftSettings());
    appendGroup(info.settings, "Search", searchSettings());
    appendGroup(info.settings, "Stop", stopSettings());
    appendGroup(info.settings, "Beyond the paper", addedSearchSettings());
    appendGroup(info.settings, "Beyond the paper", addedDraftSettings());
    info.profiles = {
        {"ours",
         "The paper's search with our additions, each of which can be switched off alone: it "
         "begins with the set that changes one token's stream least, trials grow rarer and take a "
         "fifth of all time at most, and less the better the set is, the tree is as large as suits "
         "the backend, the best set is scored again on new windows, the search starts again when "
         "acceptance falls, r is lowered when it stays low, short answers give short windows, a "
         "draft goes on where unsure tokens were accepted, and no further than its time pays, it "
         "chooses from frequent tokens and those of the text, drafts share the noise of sampling.",
         {}},
        paperProfile(),
        codeProfile(),
        {"guided",
         "Ours for small models: sublayers of little influence first, cost in bytes, r grows "
         "from small.",
         {{"start", std::string("influence")},
          {"proposals", std::string("influence")},
          {"budget", std::string("bytes")},
          {"grow", kOn},
          {"maximiser", std::string("discrete")},
          {"rows_per_trial", 32.0},
          {"quick_trials", 10.0},
          {"trials_to_double", 8.0}}},
    };
    return info;
}

} // namespace swift
