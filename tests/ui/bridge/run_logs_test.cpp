// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/run_events.h"
#include "ui/bridge/run_store.h"

#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

Topics apply(RunStore& store, EventContent content) {
    return store.apply({0.0, std::move(content)});
}

/// Two tokens in this time.
StepFinished twoTokens(std::uint64_t prompt, int step, double ms) {
    StepFinished drafted = draftStep(prompt, step, {"a"}, 1, "b");
    drafted.verifyMs = ms;
    return drafted;
}

/// The totals of `rounds` such steps, and the time of a plain step.
Statistics totals(int rounds, double allMs, double baselineMs) {
    Statistics told;
    told.baselineStepMs = baselineMs;
    told.total.rounds = rounds;
    told.total.tokens = 2 * rounds;
    told.total.accepted = told.total.draftSteps = rounds;
    told.total.verifyMs = allMs;
    return told;
}

} // namespace

/// What the logs of a run make of what changes while it lasts.
class RunLogsTest : public QObject {
    Q_OBJECT

private slots:

    /// Such as one that grows hot: with its newest plain steps alone, the whole would seem fast.
    void aSpeedupIsMeasuredOnTheMachineAsItWasThen() {
        RunStore store;
        const SpeedLog& speed = store.speed();
        apply(store, totals(0, 0.0, 20.0));
        apply(store, promptStarted(1));
        apply(store, twoTokens(1, 0, 20.0));
        apply(store, totals(1, 20.0, 40.0)); // twice as slow from here on
        apply(store, twoTokens(1, 1, 40.0));
        apply(store, totals(2, 60.0, 40.0));
        QCOMPARE(*speed.answer().speedup(), 2.0);
        QCOMPARE(*speed.chat().speedup(), 2.0);
        QCOMPARE(*speed.now().baselineMs, 40.0);
        apply(store, promptFinished(1));
        apply(store, promptStarted(kFirstHiddenPrompt + 1));
        apply(store, totals(2, 60.0, 80.0));
        QCOMPARE(*speed.answer().speedup(), 2.0);
        apply(store, promptStarted(2));
        apply(store, twoTokens(2, 0, 80.0));
        apply(store, totals(3, 140.0, 80.0));
        QCOMPARE(*speed.answer().speedup(), 2.0);
        QCOMPARE(*speed.chat().speedup(), 2.0);
    }

    /// A plain step that measures the baseline is none of the method's own.
    void plainStepsThatMeasureAreNotComparedWithThemselves() {
        RunStore store;
        apply(store, totals(0, 0.0, 20.0));
        apply(store, promptStarted(1));
        apply(store, twoTokens(1, 0, 20.0));
        apply(store, totals(1, 20.0, 60.0));
        for (int step = 1; step < 9; ++step)
            apply(store, plainStep(1, step, "p", 60.0));
        QCOMPARE(*store.speed().answer().baselineMs, 20.0);
        QCOMPARE(*store.speed().answer().speedup(), 2.0);
    }

    /// With the settings changed, or as the text has changed.
    void aNewSearchForgetsTheTrialsOfTheOneBefore() {
        RunStore store;
        const SearchLog& search = store.search();
        const PlanOutline plan{4, {{1}, {2}}, 3};
        const auto tryTwice = [&] {
            for (int index = 1; index <= 2; ++index)
                apply(store, trial("random", index, 0.5, 0.5, plan));
        };
        std::uint64_t id = 0;
        for (const char* reason : {"start", "restart", "lower r"}) {
            apply(store, PlanChanged{++id, plan, 0.25, reason});
            QCOMPARE(search.trialsOfSearch(), 0);
            tryTwice();
            QCOMPARE(search.trialsOfSearch(), 2);
            QCOMPARE(search.attention(1).skipped, 2);
        }
        QCOMPARE(search.countedTrials(), 6); // the curve goes on
        QCOMPARE(search.layerCount(), 4);
        apply(store, PlanChanged{++id, plan, 0.25, "better"});
        QCOMPARE(search.trialsOfSearch(), 2);
        apply(store, PlanChanged{++id, plan, 0.25, "manual"});
        QCOMPARE(search.trialsOfSearch(), 0);
        QCOMPARE(search.attention(1).skipped, 2); // who flips cells wants to know
    }

    /// Whatever was answered before it: a branch may begin anywhere.
    void theStepsOfAnAnswerCountFromWhereItGoesOn() {
        RunStore store;
        PromptStarted asked = promptStarted(1, 8);
        asked.question = "count";
        apply(store, asked);
        apply(store, twoTokens(1, 0, 1.0));
        apply(store, promptFinished(1));
        QCOMPARE(store.answers().latest()->firstStep, 0);
        asked.promptId = 2;
        asked.continuesLast = true;
        asked.firstStep = 5;
        apply(store, asked);
        QCOMPARE(store.answers().latest()->firstStep, 5);
    }

    /// A search for a skip set may take any number of prompts.
    void promptsOfASearchPushNoAnswerOfTheChatOut() {
        RunStore store;
        apply(store, promptStarted(1, 8));
        apply(store, twoTokens(1, 0, 1.0));
        apply(store, promptFinished(1));
        for (std::uint64_t id = kFirstHiddenPrompt; id < kFirstHiddenPrompt + 100; ++id) {
            apply(store, promptStarted(id));
            apply(store, twoTokens(id, 0, 1.0));
            apply(store, promptFinished(id));
        }
        QVERIFY(store.answers().latestShown() != nullptr);
        QCOMPARE(store.answers().latestShown()->promptId, std::uint64_t{1});
    }
};

QTEST_APPLESS_MAIN(RunLogsTest)
#include "run_logs_test.moc"
