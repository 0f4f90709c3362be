// SPDX-License-Identifier: Apache-2.0
#include "plugins/swift/swift_settings.h"

#include "engine/decoding/drafts/draft_settings.h"

#include <algorithm>
#include <array>

namespace swift {

using namespace engine;

namespace {

/// A trial now and then stays, so that S and patience still end a search.
constexpr double kLeastSearch = 0.1;

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

/// A level of the schedule that no tree of so many nodes can hold. Errors: InvalidInput.
Result<void> checkWidth(const SiblingSchedule& siblings, const std::string& text, int nodes) {
    const int widest = *std::max_element(siblings.counts.begin(), siblings.counts.end());
    if (nodes == 0 || widest <= nodes)
        return {};
    return Error{
        ErrorCode::InvalidInput,
        fmt::format("A draft tree of {} nodes (tree_nodes) cannot hold the {} choices that "
                    "siblings={} keeps side by side.",
                    nodes,
                    widest,
                    text),
        fmt::format("Set tree_nodes to {} or more, keep fewer siblings, or set "
                    "tree_nodes=0.",
                    widest)};
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
    search.scoresShortWindows = flagOf(values, "short_windows");
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
    ENGINE_TRY_DO(checkWidth(made.draft.siblings, textOf(values, "siblings"), nodes));
    made.draft.maxNodes = nodes == 0 ? preferredTreeNodes : nodes;
    made.draft.rule = verifyRuleOf(values);
    made.draft.sharesNoise = flagOf(values, "shared_noise");
    made.draft.vocabularyShare = numberOf(values, "draft_vocabulary");
    made.epsilon = flagOf(values, "early_stop") ? numberOf(values, "epsilon") : 0.0;
    made.calibrates = flagOf(values, "calibrate");
    made.searchShare = numberOf(values, "search_share");
    made.weighs = flagOf(values, "weigh");
    made.maxDraft = integerOf(values, "max_draft");
    made.draftsFreely =
        flagOf(values, "free_draft") && (isGreedy || made.draft.rule == VerifyRule::Match);
    made.freeLeast = numberOf(values, "free_least");
    return made;
}

double SwiftSettings::searchShareAt(double matchness) const {
    return searchShare * std::clamp(2.0 * (1.0 - matchness), kLeastSearch, 1.0);
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

} // namespace swift
