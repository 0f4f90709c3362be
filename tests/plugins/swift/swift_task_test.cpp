// SPDX-License-Identifier: Apache-2.0
// What SWIFT tells of each task: whose trial and whose plan it is, and which r it has and why.
#include "engine/decoding/statistics/skip_set_memory.h"
#include "engine/search/skip_space.h"
#include "tests/plugins/swift/swift_support.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <algorithm>

using namespace engine;
using namespace swift_support;

namespace {

/// All that an answer for this task told.
SearchReport ask(Decoder& decoder, const char* task, int maxTokens = 60) {
    const std::vector<TokenId> prompt = {3, 1, 4, 1, 5};
    SearchReport told;
    const auto take = [&told](const SearchReport& report) {
        told.trials.insert(told.trials.end(), report.trials.begin(), report.trials.end());
        told.planChanges.insert(
            told.planChanges.end(), report.planChanges.begin(), report.planChanges.end());
    };
    for (const DecodeStep& step :
         support::answer(decoder, {.tokens = prompt, .maxTokens = maxTokens, .task = task}))
        take(step.search);
    take(decoder.endAnswer().value());
    return told;
}

SettingValues with(const char* start, const SettingValues& more = {}) {
    SettingValues values = more;
    values["start"] = std::string(start);
    return values;
}

} // namespace

class SwiftTaskTest : public QObject {
    Q_OBJECT

private slots:
    void everyTrialAndPlanNamesItsTask();
    void aKnownTaskTellsItsPlanWhenItIsBack();
    void aPlanTellsTheRatioThatWasAskedForAndWhyItHasAnother_data();
    void aPlanTellsTheRatioThatWasAskedForAndWhyItHasAnother();
    void aLoweredRatioNamesTheAcceptance();
    void nothingStoredAndNothingSearchedIsRefused();
    void aSetThatHasNoScoreYetIsNotStored();
    void whatACancelledAnswerHasFoundIsStored();
};

void SwiftTaskTest::everyTrialAndPlanNamesItsTask() {
    const auto decoder = make({{"profile", std::string("paper")}});
    for (const char* task : {"one", "two", "one"}) {
        const SearchReport told = ask(*decoder, task);
        QVERIFY(told.trials.size() > 5 && !told.planChanges.empty());
        for (const TrialRecord& trial : told.trials)
            QCOMPARE(trial.task, std::string(task));
        for (const PlanChange& change : told.planChanges)
            QCOMPARE(change.task, std::string(task));
    }
}

void SwiftTaskTest::aKnownTaskTellsItsPlanWhenItIsBack() {
    const auto decoder = make({{"S", 5.0}, {"profile", std::string("paper")}});
    const PlanChange first = ask(*decoder, "one").planChanges.back();
    const SearchReport again = ask(*decoder, "one");
    QVERIFY(again.planChanges.empty()); // it is the same task still
    const PlanChange other = ask(*decoder, "two").planChanges.back();
    QVERIFY(other.planId != first.planId);
    const SearchReport back = ask(*decoder, "one");
    QCOMPARE(back.planChanges.size(), std::size_t{1});
    const PlanChange& told = back.planChanges.front();
    QCOMPARE(told.reason, std::string("task"));
    QCOMPARE(told.planId, first.planId);
    QVERIFY(told.plan == first.plan);
    QCOMPARE(told.task, std::string("one"));
}

void SwiftTaskTest::aPlanTellsTheRatioThatWasAskedForAndWhyItHasAnother_data() {
    QTest::addColumn<SettingValues>("settings");
    QTest::addColumn<double>("ratio");
    QTest::addColumn<QString>("reason");
    QTest::newRow("uniform") << with("uniform") << 0.45 << "";
    QTest::newRow("odd") << with("odd") << 0.5
                         << "The published start set leaves out every second layer, whatever r is.";
    QTest::newRow("given") << with("manual", {{"skip_set", std::string(R"({"attention":[2,3]})")}})
                           << 0.125 << "This set was given, whatever r is.";
    QTest::newRow("grows") << SettingValues{{"profile", std::string("guided")},
                                            {"budget", std::string("sublayers")}}
                           << 0.05
                           << "r grows from 0.05, and only while matchness is at least 0.70.";
}

void SwiftTaskTest::aPlanTellsTheRatioThatWasAskedForAndWhyItHasAnother() {
    QFETCH(SettingValues, settings);
    const auto decoder = make(settings);
    const PlanChange start = ask(*decoder, "task", 4).planChanges.front();
    QCOMPARE(start.askedRatio, 0.45);
    QTEST(start.skipRatio, "ratio");
    QTEST(QString::fromStdString(start.ratioReason), "reason");
}

void SwiftTaskTest::aLoweredRatioNamesTheAcceptance() {
    const auto decoder =
        make({{"epsilon", 0.0}, {"max_draft", 4.0}, {"beta", 2.0}, {"gamma", 8.0}});
    std::vector<PlanChange> plans;
    for (int i = 0; i < 12; ++i) {
        const SearchReport told = ask(*decoder, "task", 100);
        plans.insert(plans.end(), told.planChanges.begin(), told.planChanges.end());
    }
    const auto lowered = std::find_if(plans.begin(), plans.end(), [](const PlanChange& change) {
        return change.reason == "lower r";
    });
    QVERIFY(lowered != plans.end());
    QCOMPARE(lowered->askedRatio, 0.45);
    QVERIFY(lowered->skipRatio < 0.45);
    QVERIFY2(lowered->ratioReason.starts_with("r was lowered: only ") &&
                 lowered->ratioReason.ends_with("less than 70 %."),
             lowered->ratioReason.c_str());
}

void SwiftTaskTest::nothingStoredAndNothingSearchedIsRefused() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), "0123456789abcdef", kLayers);
    const auto decoder = make(with("library", {{"S", 0.0}}), &memory);
    const std::vector<TokenId> prompt = {3, 1, 4};
    const auto begun = decoder->begin({.tokens = prompt, .task = "math"}, {});
    QVERIFY(!begun);
    QCOMPARE(begun.error().code, ErrorCode::InvalidInput);
    QCOMPARE(begun.error().message,
             std::string("No skip set is stored for the task \"math\", and with S=0 none is "
                         "searched for."));
    QVERIFY(
        memory
            .store("math", {.set = {{2}, {3}}, .score = 0.5, .skipRatio = 0.2, .decoder = "swift"})
            .hasValue());
    const PlanChange stored = ask(*decoder, "math", 4).planChanges.front();
    QCOMPARE(stored.skipRatio, 0.2);
    QCOMPARE(stored.ratioReason,
             std::string("This set was found and stored before, at this ratio."));
    const auto last = make(with("last", {{"optimise", 0.0}}));
    const auto refused = last->begin({.tokens = prompt, .task = "math"}, {});
    QVERIFY(!refused);
    QCOMPARE(refused.error().message,
             std::string("No skip set is stored, and with optimise=off none is searched for."));
}

/// A stop word may end the answer right behind the round that lowers r.
void SwiftTaskTest::aSetThatHasNoScoreYetIsNotStored() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), "0123456789abcdef", kLayers);
    const auto decoder = make({{"epsilon", 0.0},
                               {"max_draft", 4.0},
                               {"beta", 2.0},
                               {"gamma", 8.0},
                               {"search_share", 0.0},
                               {"weigh", 0.0}},
                              &memory);
    const std::vector<TokenId> prompt = {3, 1, 4, 1, 5};
    bool isLowered = false;
    for (int answers = 0; answers < 12 && !isLowered; ++answers) {
        QVERIFY(decoder->begin({.tokens = prompt, .maxTokens = 100, .task = "task"}, {}));
        for (int made = 0; made < 100 && !isLowered;) {
            const DecodeStep step = support::valueOf(decoder->step());
            made += static_cast<int>(step.tokens.size());
            for (const PlanChange& change : step.search.planChanges)
                isLowered = isLowered || change.reason == "lower r";
        }
        QVERIFY(decoder->endAnswer().hasValue());
    }
    QVERIFY(isLowered);
    const auto stored = memory.find("task").value();
    QVERIFY(!stored || stored->score > 0.0);
}

void SwiftTaskTest::whatACancelledAnswerHasFoundIsStored() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), "0123456789abcdef", kLayers);
    const auto decoder = make(with("uniform",
                                   {{"gamma", 8.0},
                                    {"beta", 5.0},
                                    {"rows_per_trial", 1.0},
                                    {"trials_to_double", 0.0},
                                    {"lower_below", 0.0},
                                    {"restart_drop", 0.0},
                                    {"search_share", 0.0},
                                    {"weigh", 0.0}}),
                              &memory);
    const std::vector<TokenId> prompt = {3, 1, 4, 1, 5};
    std::vector<PlanChange> plans;
    for (const DecodeStep& step :
         support::answer(*decoder, {.tokens = prompt, .maxTokens = 100, .task = "one"}))
        plans.insert(plans.end(), step.search.planChanges.begin(), step.search.planChanges.end());
    QVERIFY(plans.size() > 1); // a better one than the first
    QVERIFY(decoder->begin({.tokens = prompt, .maxTokens = 100, .task = "two"}, {}));
    QCOMPARE(decoder->storeStatistics(), std::vector<std::string>());
    const auto stored = memory.find("one").value();
    QVERIFY(stored.has_value());
    QVERIFY(stored->set == skipSetOf(plans.back().plan));
    QVERIFY(!memory.find("two").value().has_value());
}

QTEST_GUILESS_MAIN(SwiftTaskTest)
#include "swift_task_test.moc"
