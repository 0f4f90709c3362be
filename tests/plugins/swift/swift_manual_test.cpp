// SPDX-License-Identifier: Apache-2.0
// A skip set that the user gives: drafted with and scored at once, whatever the search does.
#include "engine/model/skip_sets/skip_set.h"
#include "engine/search/skip_space.h"
#include "tests/plugins/swift/swift_support.h"

#include <QTest>

#include <algorithm>

using namespace engine;
using namespace swift_support;
using support::registry;

namespace {

constexpr const char* kSet = R"({"attention":[2,5],"mlp":[7]})";
const std::vector<TokenId> kPrompt = {3, 1, 4, 1, 5, 9};

/// A decoder that is begun, its settings as the user gave them, and what it emitted.
class Session {
public:
    explicit Session(SettingValues given, const std::string& decoder = "swift")
        : m_given(std::move(given))
        , m_decoder(support::openDecoder(
              decoder, {.transformer = model(), .contextLength = 512, .settings = m_given})) {
        begin();
    }

    void begin() {
        tokens.clear();
        const auto begun = m_decoder->begin({.tokens = kPrompt, .task = "task"}, {});
        ENGINE_CHECK(begun.hasValue(), "{}", begun.error().message);
    }

    DecodeStep step() {
        auto made = support::valueOf(m_decoder->step());
        tokens.insert(tokens.end(), made.tokens.begin(), made.tokens.end());
        for (const TrialRecord& trial : made.search.trials)
            trials.push_back(trial);
        return made;
    }

    void stepTo(std::size_t count) {
        while (tokens.size() < count)
            step();
    }

    Result<SearchReport> change(const SettingValues& values) {
        SettingValues given = m_given;
        for (const auto& [name, value] : values)
            given.insert_or_assign(name, value);
        auto report = m_decoder->configure(
            resolveSettings(registry().info("swift").value(), given).value(), values);
        if (report)
            m_given = std::move(given);
        return report;
    }

    SearchReport setManually(const std::string& set, bool isSearching = false) {
        return support::valueOf(change({{"start", std::string("manual")},
                                        {"skip_set", set},
                                        {"optimise", isSearching ? 1.0 : 0.0}}));
    }

    SearchReport end() { return m_decoder->endAnswer().value(); }

    std::vector<TokenId> tokens;
    std::vector<TrialRecord> trials; ///< told by steps

private:
    SettingValues m_given;
    std::unique_ptr<Decoder> m_decoder;
};

SettingValues quiet(double gamma = 8.0) {
    return {{"gamma", gamma},
            {"rows_per_trial", 1.0},
            {"search_share", 0.0}, // no clock is asked
            {"weigh", 0.0},
            {"trials_to_double", 0.0},
            {"stop_score", 1.0},
            {"max_draft", 3.0},
            {"lower_below", 0.0},
            {"restart_drop", 0.0}};
}

/// What a report of a manual set must hold, whenever it comes.
void checkTrial(const TrialRecord& trial, const std::vector<TokenId>& tokens, std::size_t length) {
    QCOMPARE(trial.kind, std::string("manual"));
    QVERIFY(!trial.counts);
    QVERIFY(trial.isBest);
    QCOMPARE(trial.ticks.size(), length);
    QCOMPARE(trial.guesses.size(), length);
    QVERIFY(std::equal(trial.window.begin(), trial.window.end(), tokens.begin() + 1));
    int matches = 0;
    for (std::size_t i = 0; i < length; ++i) {
        QCOMPARE(trial.ticks[i] != 0, trial.window[i] == trial.guesses[i]);
        matches += trial.ticks[i];
    }
    QCOMPARE(trial.score, matches / static_cast<double>(length));
    QCOMPARE(trial.best, trial.score);
}

} // namespace

class SwiftManualTest : public QObject {
    Q_OBJECT

private slots:
    void aSetGivenBehindAnAnswerIsScoredAtOnce();
    void aSetGivenBetweenTwoRoundsIsDraftedWith();
    void aShortAnswerScoresTheSetOnWhatThereIs();
    void aSetGivenTooEarlyIsScoredOnceThereIsAWindow();
    void theSearchGoesOnFromTheSet();
    void theSameSetGivenAgainIsInstalledAgain();
    void otherSettingsLeaveTheSearchAlone();
    void theEmptySetPredictsEverything();
    void layersThatAlwaysRunAreRefusedAndNothingChanges();
};

void SwiftManualTest::aSetGivenBehindAnAnswerIsScoredAtOnce() {
    Session session(quiet());
    session.stepTo(40);
    session.end();
    const SearchReport report = session.setManually(kSet);
    QCOMPARE(report.planChanges.size(), std::size_t{1});
    const PlanChange& change = report.planChanges.front();
    QCOMPARE(change.reason, std::string("manual"));
    QVERIFY(skipSetOf(change.plan) == (SkipSet{{2, 5}, {7}}));
    QCOMPARE(change.skipRatio, 3.0 / 16.0);
    QVERIFY(change.planId > 1);
    QCOMPARE(report.trials.size(), std::size_t{1});
    checkTrial(report.trials.front(), session.tokens, 8);
    QVERIFY(report.trials.front().plan == change.plan);
    QVERIFY(report.searchMs > 0.0);
    session.begin();
    QCOMPARE(session.step().planId, change.planId); // of the same task
}

void SwiftManualTest::aSetGivenBetweenTwoRoundsIsDraftedWith() {
    Session vanilla({}, "vanilla");
    vanilla.stepTo(60);
    Session session(quiet());
    session.stepTo(20);
    const SearchReport report = session.setManually(kSet);
    QCOMPARE(report.trials.size(), std::size_t{1});
    checkTrial(report.trials.front(), session.tokens, 8);
    session.trials.clear();
    while (session.tokens.size() < 60) {
        const DecodeStep step = session.step();
        QCOMPARE(step.planId, report.planChanges.back().planId);
        QVERIFY(step.search.planChanges.empty());
    }
    QVERIFY(session.trials.empty()); // nothing is optimised
    session.tokens.resize(60);
    vanilla.tokens.resize(60);
    QCOMPARE(session.tokens, vanilla.tokens);
}

void SwiftManualTest::aShortAnswerScoresTheSetOnWhatThereIs() {
    Session session(quiet(32.0));
    session.stepTo(10);
    const SearchReport report = session.setManually(kSet);
    QCOMPARE(report.trials.size(), std::size_t{1});
    checkTrial(report.trials.front(), session.tokens, session.tokens.size() - 1);
}

void SwiftManualTest::aSetGivenTooEarlyIsScoredOnceThereIsAWindow() {
    Session session(quiet(32.0));
    session.step();
    const SearchReport report = session.setManually(kSet);
    QCOMPARE(report.planChanges.size(), std::size_t{1});
    QVERIFY(report.trials.empty());
    session.stepTo(80);
    QCOMPARE(session.trials.size(), std::size_t{1});
    checkTrial(session.trials.front(), session.tokens, 32);
    // An answer that ends before is scored at its end.
    Session brief(quiet(32.0));
    brief.step();
    QVERIFY(brief.setManually(kSet).trials.empty());
    brief.stepTo(12);
    QVERIFY(brief.trials.empty());
    const SearchReport atEnd = brief.end();
    QCOMPARE(atEnd.trials.size(), std::size_t{1});
    checkTrial(atEnd.trials.front(), brief.tokens, brief.tokens.size() - 1);
}

void SwiftManualTest::theSearchGoesOnFromTheSet() {
    Session session(quiet());
    session.stepTo(20);
    const SearchReport report = session.setManually(kSet, true);
    QCOMPARE(report.trials.size(), std::size_t{1});
    session.trials.clear();
    session.stepTo(60);
    QVERIFY(session.trials.size() > 5);
    double best = report.trials.front().score;
    for (const TrialRecord& trial : session.trials) {
        QCOMPARE(trial.kind == "manual", false);
        QVERIFY(trial.counts); // the window is the same: nothing is scored again
        QCOMPARE(trial.isBest, trial.score > best);
        best = std::max(best, trial.score);
        const SkipSet set = skipSetOf(trial.plan);
        QCOMPARE(set.attention.size() + set.mlp.size(), std::size_t{3}); // as many as the set
    }
}

void SwiftManualTest::theSameSetGivenAgainIsInstalledAgain() {
    Session session(quiet());
    session.stepTo(20);
    const std::uint64_t first = session.setManually(kSet).planChanges.back().planId;
    const SearchReport again = session.setManually(kSet);
    QCOMPARE(again.trials.size(), std::size_t{1});
    QCOMPARE(again.planChanges.back().planId, first + 1);
}

void SwiftManualTest::otherSettingsLeaveTheSearchAlone() {
    Session session(quiet());
    session.stepTo(20);
    session.setManually(kSet);
    const auto report = session.change({{"epsilon", 0.5}});
    QVERIFY(report.hasValue());
    QVERIFY(report.value().trials.empty() && report.value().planChanges.empty());
}

void SwiftManualTest::theEmptySetPredictsEverything() {
    Session session(quiet());
    session.stepTo(20);
    const SearchReport report = session.setManually(R"({"attention":[],"mlp":[]})", true);
    QCOMPARE(report.trials.size(), std::size_t{1});
    QCOMPARE(report.trials.front().score, 1.0);
    QCOMPARE(report.planChanges.back().skipRatio, 0.0);
    session.stepTo(60); // the search goes on, whatever it finds
}

void SwiftManualTest::layersThatAlwaysRunAreRefusedAndNothingChanges() {
    Session session(quiet());
    session.stepTo(20);
    const std::uint64_t planId = session.setManually(kSet).planChanges.back().planId;
    for (const char* set : {R"({"attention":[0]})", R"({"mlp":[3,9]})"}) {
        const auto report = session.change({{"skip_set", std::string(set)}, {"max_draft", 1.0}});
        QVERIFY(!report);
        QCOMPARE(report.error().code, ErrorCode::InvalidInput);
        QVERIFY(report.error().message.find("the first and the last layer") != std::string::npos);
        QCOMPARE(session.step().planId, planId);
    }
    const auto beyond = session.change({{"skip_set", std::string(R"({"attention":[10]})")}});
    QVERIFY(beyond.error().message.find("layer 10") != std::string::npos);
    const DecoderInfo info = registry().info("swift").value();
    const SkipSpace space = SkipSpace::inner(kLayers);
    for (int layer = 0; layer < kLayers; ++layer)
        QCOMPARE(info.isLocked(layer, kLayers),
                 layer < space.firstLayer() || layer >= space.firstLayer() + space.width());
}

QTEST_GUILESS_MAIN(SwiftManualTest)
#include "swift_manual_test.moc"
