// SPDX-License-Identifier: Apache-2.0
// The optimisation phase of SWIFT and the policies around it, as its steps tell them.
#include "engine/decoding/statistics/skip_set_memory.h"
#include "engine/search/skip_space.h"
#include "tests/plugins/swift/swift_support.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

using namespace engine;
using namespace swift_support;
using support::registry;

namespace {

/// Everything that a stream of answers told.
struct Reported {
    std::vector<TokenId> tokens;
    std::vector<TrialRecord> trials;
    std::vector<PlanChange> plans;
    std::vector<std::string> notes;
    std::vector<DecoderPhase> phases;
    std::vector<std::size_t> tokensBeforeTrial; ///< of its answer, for each trial of a step

    bool mentions(std::string_view text) const {
        return std::any_of(notes.begin(), notes.end(), [&](const std::string& note) {
            return note.find(text) != std::string::npos;
        });
    }

    std::vector<TrialRecord> counted() const {
        std::vector<TrialRecord> found;
        std::copy_if(trials.begin(),
                     trials.end(),
                     std::back_inserter(found),
                     [](const TrialRecord& trial) { return trial.counts; });
        return found;
    }
};

void take(const SearchReport& report, Reported& told) {
    told.trials.insert(told.trials.end(), report.trials.begin(), report.trials.end());
    told.plans.insert(told.plans.end(), report.planChanges.begin(), report.planChanges.end());
    told.notes.insert(told.notes.end(), report.notes.begin(), report.notes.end());
    told.phases.push_back(report.phase);
}

void answer(Decoder& decoder, int seed, int maxTokens, Reported& told, const char* task = "task") {
    std::vector<TokenId> prompt;
    for (int i = 0; i < 6; ++i)
        prompt.push_back((seed * 31 + i * 17) % 160);
    auto begun = decoder.begin({.tokens = prompt, .maxTokens = maxTokens, .task = task}, {});
    ENGINE_CHECK(begun.hasValue(), "{}", begun.error().message);
    std::size_t made = 0;
    while (made < static_cast<std::size_t>(maxTokens)) {
        auto step = support::valueOf(decoder.step());
        for (std::size_t i = 0; i < step.search.trials.size(); ++i)
            told.tokensBeforeTrial.push_back(made);
        made += step.tokens.size();
        told.tokens.insert(told.tokens.end(), step.tokens.begin(), step.tokens.end());
        take(step.search, told);
    }
    take(support::valueOf(decoder.endAnswer()), told);
}

Reported run(const SettingValues& given, int answers, int maxTokens = 40) {
    const auto decoder = make(given);
    Reported told;
    for (int i = 0; i < answers; ++i)
        answer(*decoder, i, maxTokens, told);
    return told;
}

/// So many answers at most, until what they told is enough.
Reported runUntil(const SettingValues& given,
                  int answers,
                  const std::function<bool(const Reported&)>& isEnough) {
    const auto decoder = make(given);
    Reported told;
    for (int i = 0; i < answers && !isEnough(told); ++i)
        answer(*decoder, i, 40, told);
    return told;
}

/// So many answers at most, until one behind the end of the search.
Reported runToTheEnd(const SettingValues& given, int answers) {
    int behind = 0;
    return runUntil(given, answers, [&behind](const Reported& soFar) {
        return !soFar.phases.empty() && soFar.phases.back() == DecoderPhase::Accelerate &&
               ++behind > 1;
    });
}

int skipped(const LayerPlan& plan) {
    return static_cast<int>(
        std::count(plan.attention.begin(), plan.attention.end(), SublayerAction::Skip) +
        std::count(plan.mlp.begin(), plan.mlp.end(), SublayerAction::Skip));
}

/// Small numbers, a search that never ends by itself, no policy that interferes.
SettingValues quiet() {
    return {{"start", std::string("uniform")},
            {"gamma", 8.0},
            {"beta", 5.0},
            {"rows_per_trial", 1.0},
            {"trials_to_double", 0.0},
            {"stop_score", 1.0},
            {"lower_below", 0.0},
            {"restart_drop", 0.0},
            {"search_share", 0.0},
            {"weigh", 0.0}}; // no clock is asked
}

SettingValues with(SettingValues values, const SettingValues& more) {
    for (const auto& [name, value] : more)
        values[name] = value;
    return values;
}

/// Four answers, made once for all functions.
const Reported& quietRun() {
    static const Reported told = run(quiet(), 4);
    return told;
}

/// Eight answers with random trials alone, made once as well.
const Reported& randomRun() {
    static const Reported told = run(with(quiet(), {{"bayesian", 0.0}}), 8);
    return told;
}

} // namespace

class SwiftSearchTest : public QObject {
    Q_OBJECT

private slots:
    void theStartSetIsScoredFirstAndIsNoTrial();
    void theWindowOpensBehindGammaAndOneTokens();
    void aShortAnswerStillGivesASmallWindow();
    void everyCandidateSkipsExactlyTheRatio();
    void bayesianTrialsComeAtMultiplesOfBeta();
    void tiesKeepTheIncumbent();
    void patienceEndsTheSearch();
    void theNumberOfTrialsEndsTheSearch();
    void theStopScoreEndsTheSearch();
    void thePublishedProfileExceedsItsLimitsByOne();
    void aNewWindowScoresTheIncumbentAgain();
    void lowAcceptanceLowersTheRatioToItsLeast();
    void fallenAcceptanceBeginsTheSearchAnew();
    void aCancelledStepLosesNoReport();
    void theSameSeedGivesTheSameRun();
    void trialsGrowRarer();
    void tasksHaveSearchesOfTheirOwn();
    void guidedGrowsFromTheLeastRatio();
    void optimisationSwitchedOffTriesNothing();
    void aSetIsStoredAndStartsTheNextRun();
    void ofAStoredSetTheOuterLayersRun();
    void aBrokenMemoryIsANoteAndTheFileStays();
    void aManualSetForAnotherModelIsRefused();
    void settingsOutOfRangeNameTheRange();
};

void SwiftSearchTest::theStartSetIsScoredFirstAndIsNoTrial() {
    const Reported& told = quietRun();
    QCOMPARE(told.trials.front().kind, std::string("start"));
    QVERIFY(!told.trials.front().counts);
    QCOMPARE(told.trials.front().index, 0);
    QVERIFY(told.trials.front().plan == SkipSpace::inner(kLayers).uniform(0.45));
    QCOMPARE(told.trials[1].index, 1);
    QCOMPARE(told.trials.front().ticks.size(), std::size_t{8});
    QCOMPARE(told.plans.front().reason, std::string("start"));
    QCOMPARE(told.plans.front().planId, std::uint64_t{1});
}

void SwiftSearchTest::theWindowOpensBehindGammaAndOneTokens() {
    const Reported& told = quietRun();
    QVERIFY(!told.tokensBeforeTrial.empty());
    for (const std::size_t tokens : told.tokensBeforeTrial)
        QVERIFY(tokens >= 9);
    QVERIFY(std::find(told.phases.begin(), told.phases.end(), DecoderPhase::Accumulate) !=
            told.phases.end());
    QVERIFY(std::find(told.phases.begin(), told.phases.end(), DecoderPhase::Optimise) !=
            told.phases.end());
}

void SwiftSearchTest::aShortAnswerStillGivesASmallWindow() {
    const SettingValues settings = with(quiet(), {{"gamma", 32.0}});
    const Reported eight = run(settings, 1, 8);
    QCOMPARE(eight.trials.front().ticks.size(), std::size_t{7});
    QVERIFY(run(settings, 1, 7).trials.empty());
}

void SwiftSearchTest::everyCandidateSkipsExactlyTheRatio() {
    const Reported told = run(with(quiet(), {{"r", 0.3}}), 4);
    QVERIFY(told.trials.size() > 20);
    for (const TrialRecord& trial : told.trials) {
        QCOMPARE(skipped(trial.plan), 4); // floor(16 * .3)
        QVERIFY(trial.plan.runsAttention(0) && trial.plan.runsMlp(0));
        QVERIFY(trial.plan.runsAttention(kLayers - 1) && trial.plan.runsMlp(kLayers - 1));
    }
}

void SwiftSearchTest::bayesianTrialsComeAtMultiplesOfBeta() {
    const auto trials = quietRun().counted();
    QVERIFY(trials.size() > 20);
    for (const TrialRecord& trial : trials)
        QCOMPARE(trial.kind, std::string(trial.index % 5 == 0 ? "bayesian" : "random"));
    for (const TrialRecord& trial : randomRun().counted())
        QCOMPARE(trial.kind, std::string("random"));
}

void SwiftSearchTest::tiesKeepTheIncumbent() {
    const Reported told = run(with(quiet(), {{"rescore", 0.0}}), 4);
    double best = told.trials.front().score;
    int ties = 0;
    for (const TrialRecord& trial : told.counted()) {
        QCOMPARE(trial.isBest, trial.score > best);
        ties += trial.score == best ? 1 : 0;
        best = std::max(best, trial.score);
        QCOMPARE(trial.best, best);
    }
    QVERIFY(ties > 0);
}

void SwiftSearchTest::patienceEndsTheSearch() {
    const Reported told = runToTheEnd(with(quiet(), {{"patience", 7.0}, {"rescore", 0.0}}), 6);
    const auto trials = told.counted();
    int idle = 0;
    for (const TrialRecord& trial : trials)
        idle = trial.isBest ? 0 : idle + 1;
    QCOMPARE(idle, 7);
    QVERIFY(told.mentions("7 trials in a row"));
    QCOMPARE(told.phases.back(), DecoderPhase::Accelerate);
}

void SwiftSearchTest::theNumberOfTrialsEndsTheSearch() {
    const Reported told = runToTheEnd(with(quiet(), {{"S", 12.0}}), 6);
    QCOMPARE(told.counted().size(), std::size_t{12});
    QCOMPARE(told.phases.back(), DecoderPhase::Accelerate);
    QVERIFY(run(with(quiet(), {{"S", 0.0}}), 3).trials.empty());
}

void SwiftSearchTest::theStopScoreEndsTheSearch() {
    const Reported told = runToTheEnd(with(quiet(), {{"stop_score", 0.0}, {"rescore", 0.0}}), 4);
    QVERIFY(told.trials.back().best > 0.0);
    QVERIFY(told.mentions("is above 0.00"));
    for (std::size_t i = 0; i + 1 < told.trials.size(); ++i)
        QCOMPARE(told.trials[i].best, 0.0);
}

void SwiftSearchTest::thePublishedProfileExceedsItsLimitsByOne() {
    const SettingValues code = {
        {"profile", std::string("code")}, {"gamma", 8.0}, {"stop_score", 1.0}};
    const Reported byTrials = runToTheEnd(with(code, {{"S", 12.0}}), 8);
    QCOMPARE(byTrials.counted().size(), std::size_t{13});
    QCOMPARE(byTrials.trials.size(), std::size_t{13}); // nothing is scored besides
    QVERIFY(byTrials.plans.front().plan == SkipSpace::inner(kLayers).oddLayers());
    const auto byPatience = runToTheEnd(with(code, {{"patience", 6.0}}), 8).counted();
    int idle = 0;
    for (const TrialRecord& trial : byPatience)
        idle = trial.isBest ? 0 : idle + 1;
    QCOMPARE(idle, 7);
}

void SwiftSearchTest::aNewWindowScoresTheIncumbentAgain() {
    const Reported& told = quietRun();
    QCOMPARE(std::count_if(told.trials.begin(),
                           told.trials.end(),
                           [](const TrialRecord& trial) { return trial.kind == "rescore"; }),
             std::ptrdiff_t{3});
    for (std::size_t i = 1; i < told.trials.size(); ++i)
        if (told.trials[i].kind == "rescore")
            QCOMPARE(told.trials[i].best, told.trials[i].score);
}

void SwiftSearchTest::lowAcceptanceLowersTheRatioToItsLeast() {
    const auto ratiosOf = [](const Reported& told) {
        std::vector<double> ratios;
        for (const PlanChange& change : told.plans)
            if (change.reason == "lower r")
                ratios.push_back(change.skipRatio);
        return ratios;
    };
    int answersBehind = 0; // the second change, in which no third one comes
    const Reported told = runUntil(
        with(quiet(),
             {{"lower_below", 1.0},
              {"bayesian", 0.0},
              {"r", 0.4},
              {"r_min", 0.2},
              {"r_step", 0.1},
              {"epsilon", 0.0},
              {"max_draft", 4.0}}),
        30,
        [&](const Reported& soFar) { return ratiosOf(soFar).size() >= 2 && ++answersBehind > 2; });
    const std::vector<double> ratios = ratiosOf(told);
    QCOMPARE(ratios.size(), std::size_t{2});
    QVERIFY(std::abs(ratios[0] - 0.3) < 1e-9 && std::abs(ratios[1] - 0.2) < 1e-9);
    QVERIFY(told.mentions("r was lowered from 0.40 to 0.30"));
    QCOMPARE(skipped(told.trials.back().plan), 3); // floor(16 * .2)
}

void SwiftSearchTest::fallenAcceptanceBeginsTheSearchAnew() {
    // Any fall is enough here; acceptance on a random network goes up and down by itself.
    const Reported told =
        runUntil(with(quiet(),
                      {{"S", 3.0},
                       {"bayesian", 0.0},
                       {"restart_drop", 0.001},
                       {"epsilon", 0.0},
                       {"max_draft", 4.0},
                       {"r", 0.2}}),
                 40,
                 [](const Reported& soFar) {
                     return soFar.mentions("the search starts again") && soFar.counted().size() > 3;
                 });
    QVERIFY(told.mentions("the search starts again"));
    const auto restart =
        std::find_if(told.plans.begin(), told.plans.end(), [](const PlanChange& change) {
            return change.reason == "restart";
        });
    QVERIFY(restart != told.plans.end());
    QVERIFY(restart->plan == SkipSpace::inner(kLayers).uniform(0.2));
    QVERIFY(told.counted().size() > 3);
}

void SwiftSearchTest::aCancelledStepLosesNoReport() {
    const auto decoder = make(quiet());
    const std::vector<TokenId> prompt = {1, 2, 3, 4};
    std::stop_source source;
    QVERIFY(decoder->begin({.tokens = prompt, .task = "task"}, {.stop = source.get_token()})
                .hasValue());
    source.request_stop();
    QCOMPARE(decoder->step().error().code, ErrorCode::Cancelled);
    QVERIFY(decoder->begin({.tokens = prompt, .task = "task"}, {}).hasValue());
    const auto step = decoder->step();
    QVERIFY(step.hasValue());
    QCOMPARE(step.value().search.planChanges.size(), std::size_t{1});
    QCOMPARE(step.value().search.planChanges.front().planId, step.value().planId);
}

void SwiftSearchTest::theSameSeedGivesTheSameRun() {
    const SettingValues settings = with(quiet(), {{"lower_below", 0.9}});
    const Reported first = run(settings, 3);
    const Reported second = run(settings, 3);
    QCOMPARE(first.tokens, second.tokens);
    QCOMPARE(first.trials.size(), second.trials.size());
    for (std::size_t i = 0; i < first.trials.size(); ++i) {
        QVERIFY(first.trials[i].plan == second.trials[i].plan);
        QCOMPARE(first.trials[i].score, second.trials[i].score);
    }
    QCOMPARE(first.plans.size(), second.plans.size());
    for (std::size_t i = 0; i < first.plans.size(); ++i)
        QVERIFY(first.plans[i].plan == second.plans[i].plan);
    const Reported other = run(with(settings, {{"search_seed", 2.0}}), 3);
    QVERIFY(!(other.trials[1].plan == first.trials[1].plan));
    QCOMPARE(other.tokens, first.tokens);
}

void SwiftSearchTest::trialsGrowRarer() {
    const SettingValues settings = with(quiet(), {{"bayesian", 0.0}});
    const auto often = randomRun().counted().size();
    const auto rare = run(with(settings, {{"quick_trials", 10.0}, {"trials_to_double", 10.0}}), 8)
                          .counted()
                          .size();
    QVERIFY2(rare * 2 < often, fmt::format("{} against {}", rare, often).c_str());
}

void SwiftSearchTest::tasksHaveSearchesOfTheirOwn() {
    const auto decoder = make(quiet());
    Reported first;
    Reported second;
    answer(*decoder, 1, 40, first, "one");
    answer(*decoder, 1, 40, second, "two");
    QCOMPARE(second.trials.front().kind, std::string("start"));
    QVERIFY(second.plans.front().planId > first.plans.back().planId);
    Reported again;
    answer(*decoder, 2, 40, again, "one");
    QCOMPARE(again.trials.front().kind, std::string("rescore"));
}

void SwiftSearchTest::guidedGrowsFromTheLeastRatio() {
    const Reported told = run({{"profile", std::string("guided")},
                               {"gamma", 8.0},
                               {"rows_per_trial", 1.0},
                               {"r_min", 0.1},
                               {"r_step", 0.1},
                               {"grow_score", 0.0},
                               {"lower_below", 0.0}},
                              6);
    double ratio = 0.0;
    for (const PlanChange& change : told.plans) {
        QVERIFY(change.skipRatio >= ratio);
        ratio = change.skipRatio;
    }
    QVERIFY(std::abs(told.plans.front().skipRatio - 0.1) < 1e-9);
    QVERIFY(std::abs(ratio - 0.45) < 1e-9);
    QVERIFY(told.mentions("The search has reached 45 % skipped"));
}

void SwiftSearchTest::optimisationSwitchedOffTriesNothing() {
    const Reported told = run(with(quiet(), {{"optimise", 0.0}}), 3);
    QVERIFY(told.trials.empty());
    QCOMPARE(told.plans.size(), std::size_t{1});
}

void SwiftSearchTest::aSetIsStoredAndStartsTheNextRun() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), "0123456789abcdef", kLayers);
    Reported first;
    const auto decoder = make(quiet(), &memory);
    for (int i = 0; i < 4; ++i)
        answer(*decoder, i, 40, first);
    const auto stored = memory.find("task");
    QVERIFY(stored.hasValue() && stored.value().has_value());
    QVERIFY(stored.value()->set == skipSetOf(first.plans.back().plan));
    for (const char* start : {"library", "last"}) {
        Reported second;
        const auto next = make(with(quiet(), {{"start", std::string(start)}}), &memory);
        answer(*next, 9, 4, second, "task");
        QVERIFY(second.plans.front().plan == first.plans.back().plan);
    }
    Reported fresh;
    const auto other = make(with(quiet(), {{"start", std::string("library")}}), &memory);
    answer(*other, 9, 4, fresh, "unknown");
    QVERIFY(fresh.mentions("No skip set is stored for the task \"unknown\" yet"));
}

/// Self-SD's search may leave out any layer, and its sets are kept in the same library.
void SwiftSearchTest::ofAStoredSetTheOuterLayersRun() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), "0123456789abcdef", kLayers);
    StoredSkipSet found{
        .set = {{0, 2, kLayers - 1}, {3}}, .score = 2.0, .skipRatio = 0.5, .decoder = "self_sd"};
    QVERIFY(memory.store("task", found));
    Reported told;
    const auto decoder = make(with(quiet(), {{"start", std::string("library")}}), &memory);
    answer(*decoder, 9, 4, told, "task");
    const PlanChange& first = told.plans.front();
    QVERIFY(skipSetOf(first.plan) == (SkipSet{{2}, {3}}));
    QVERIFY(first.skipRatio > 0.0 && first.skipRatio < 0.3); // of 2 sublayers of 16
    QVERIFY(told.mentions("names the first or the last layer"));
    found.set = {{0}, {kLayers - 1}};
    QVERIFY(memory.store("other", found));
    Reported other;
    answer(*decoder, 9, 4, other, "other");
    QVERIFY(other.mentions("names only the first or the last layer"));
    QVERIFY(other.plans.front().plan == SkipSpace::inner(kLayers).uniform(0.45));
}

void SwiftSearchTest::aBrokenMemoryIsANoteAndTheFileStays() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), "0123456789abcdef", kLayers);
    std::filesystem::create_directories(memory.path().parent_path());
    std::ofstream(memory.path()) << "{ broken";
    Reported told;
    const auto decoder =
        make(with(quiet(), {{"start", std::string("library")}, {"optimise", 0.0}}), &memory);
    answer(*decoder, 1, 12, told);
    QCOMPARE(told.tokens.size(), std::size_t{12});
    QVERIFY(told.mentions("begins with the uniform set"));
    QVERIFY(std::filesystem::exists(memory.path()));
}

void SwiftSearchTest::aManualSetForAnotherModelIsRefused() {
    const auto made =
        registry().make("swift",
                        {.transformer = model(),
                         .contextLength = 64,
                         .settings = {{"start", std::string("manual")},
                                      {"skip_set", std::string("{\"attention\":[3,45]}")}}});
    QVERIFY(!made);
    QCOMPARE(made.error().code, ErrorCode::InvalidInput);
    QVERIFY(made.error().message.find("45") != std::string::npos);
}

void SwiftSearchTest::settingsOutOfRangeNameTheRange() {
    const auto made = registry().make(
        "swift", {.transformer = model(), .contextLength = 64, .settings = {{"r", 1.5}}});
    QVERIFY(!made);
    QCOMPARE(QString::fromStdString(made.error().message),
             QString("The setting r is \"1.5\", but must be a number from 0 to 0.95."));
    const auto siblings = registry().make("swift",
                                          {.transformer = model(),
                                           .contextLength = 64,
                                           .settings = {{"siblings", std::string("1,2,3")}}});
    QCOMPARE(siblings.error().code, ErrorCode::InvalidInput);
    const auto unknown = registry().make(
        "swift", {.transformer = model(), .contextLength = 64, .settings = {{"gama", 3.0}}});
    QVERIFY(unknown.error().hint.find("Did you mean gamma?") != std::string::npos);
}

QTEST_GUILESS_MAIN(SwiftSearchTest)
#include "swift_search_test.moc"
