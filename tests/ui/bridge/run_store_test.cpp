// SPDX-License-Identifier: GPL-3.0-only
#include "engine/session/recording/run_recording.h"
#include "tests/ui/support/run_events.h"
#include "ui/bridge/run_store.h"

#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

PlanOutline outline(std::vector<int> attention, std::vector<int> mlp) {
    return {4, {std::move(attention), std::move(mlp)}, 0};
}

Topics apply(RunStore& store, EventContent content, double time = 0.0) {
    return store.apply({time, std::move(content)});
}

} // namespace

class RunStoreTest : public QObject {
    Q_OBJECT

private slots:

    void tokensStandWhereTheirTextIs() {
        RunStore store;
        apply(store, promptStarted(7));
        apply(store, draftStep(7, 0, {"one", " two", " three"}, 2, " four"));
        apply(store, TextReleased{7, "!"});
        const Answer* answer = store.answers().latest();
        QVERIFY(answer != nullptr);
        QCOMPARE(answer->text, std::string("one two four!"));
        QCOMPARE(answer->tokens.size(), std::size_t(3));
        const AnswerToken& last = answer->tokens[2];
        QCOMPARE(answer->text.substr(last.begin, last.end - last.begin), std::string(" four"));
        QVERIFY(last.fact.origin == TokenOrigin::Bonus);
        QVERIFY(answer->isRunning());
        apply(store, promptFinished(7));
        QVERIFY(!store.answers().isRunning());
    }

    void stepsOfAnotherPromptAreNotMixedIn() {
        RunStore store;
        apply(store, promptStarted(7));
        apply(store, plainStep(8, 0, "stray", 1.0));
        QCOMPARE(store.answers().latest()->text, std::string());
    }

    void oldAnswersLoseTheirStepsAndThenThemselves() {
        RunStore store;
        for (std::uint64_t id = 0; id < AnswerLog::kAnswersKept + 3; ++id) {
            apply(store, promptStarted(id));
            apply(store, plainStep(id, 0, "x", 1.0));
            apply(store, promptFinished(id));
        }
        const auto& answers = store.answers().answers();
        QCOMPARE(answers.size(), AnswerLog::kAnswersKept);
        QVERIFY(answers.front().steps.empty());
        QCOMPARE(answers.front().text, std::string("x"));
        QCOMPARE(answers.back().steps.size(), std::size_t(1));
    }

    void aBestSetCarriesTheTrialThatFoundIt() {
        RunStore store;
        const PlanOutline start = outline({1}, {});
        const PlanOutline better = outline({2}, {1});
        apply(store, PlanChanged{1, start, 0.25, "start"});
        QVERIFY(!store.search().current()->trial);
        apply(store, trial("start", 0, 0.5, 0.5, start));
        QCOMPARE(store.search().current()->trial->score, 0.5);
        apply(store, trial("random", 1, 0.75, 0.75, better));
        apply(store, PlanChanged{2, better, 0.5, "better"});
        QCOMPARE(store.search().bestSets().size(), std::size_t(2));
        QCOMPARE(store.search().current()->trial->score, 0.75);
        QCOMPARE(store.search().current()->place, 2);
        QCOMPARE(store.search().bestSets().front().trial->score, 0.5);
    }

    void whatMeasuresTheSetInUseIsNoStepOfItsOwn() {
        RunStore store;
        const PlanOutline start = outline({1}, {});
        const PlanOutline better = outline({2}, {1});
        const auto measured = [&](const char* kind, double score, const PlanOutline& plan) {
            TrialFinished made = trial(kind, 0, score, score, plan);
            made.counts = false;
            apply(store, made);
        };
        apply(store, PlanChanged{1, start, 0.25, "start"});
        measured("start", 0.5, start);
        QCOMPARE(store.search().countedTrials(), 0);
        QCOMPARE(store.search().trials().back().place, 0);
        apply(store, PhaseChanged{DecoderPhase::Optimise});
        apply(store, trial("random", 1, 0.75, 0.75, better));
        apply(store, PlanChanged{2, better, 0.5, "better"});
        apply(store, promptStarted(1));
        measured("rescore", 0.25, better);
        apply(store, trial("start", 2, 0.125, 0.25, start)); // of a larger ratio: it counts
        const SearchLog& search = store.search();
        QCOMPARE(search.countedTrials(), 2);
        std::vector<int> places;
        for (const TrialPoint& each : search.trials())
            places.push_back(each.place);
        QCOMPARE(places, (std::vector<int>{0, 1, 1, 2}));
        QCOMPARE(search.bestSets()[0].place, 0);
        QCOMPARE(search.bestSets()[1].place, 1);
        QCOMPARE(search.phases().back().firstPlace, 0);
        QCOMPARE(search.answerPlaces(), std::vector<int>{1});
        QCOMPARE(search.attention(1).skipped + search.attention(1).kept, 2);
    }

    /// The settings of the paper score no start set, so its first score comes with another window.
    void aFirstScoreIsNoScoreAgain() {
        RunStore store;
        const PlanOutline start = outline({1}, {});
        apply(store, PlanChanged{1, start, 0.25, "start"});
        apply(store, trial("rescore", 0, 0.5, 0.5, start));
        apply(store, trial("rescore", 0, 0.75, 0.75, start));
        QCOMPARE(store.search().trials()[0].kind, std::string("start"));
        QCOMPARE(store.search().trials()[1].kind, std::string("rescore"));
    }

    void tasksNeverShareACurve() {
        RunStore store;
        const PlanOutline one = outline({1}, {});
        const PlanOutline two = outline({2}, {1});
        const auto tried = [&](const char* task, double score, const PlanOutline& plan) {
            TrialFinished made = trial("random", 1, score, score, plan);
            made.task = task;
            apply(store, made);
        };
        const auto planned = [&](const char* task, std::uint64_t id, const PlanOutline& plan) {
            PlanChanged change{id, plan, 0.25, "better"};
            change.task = task;
            apply(store, change);
        };
        tried("one", 0.5, one);
        planned("one", 1, one);
        tried("one", 0.25, two);
        tried("two", 0.75, two);
        planned("two", 2, two);
        QCOMPARE(store.search().task(), std::string("two"));
        QCOMPARE(store.search().taskCount(), 2);
        QCOMPARE(store.search().trials().size(), std::size_t(1));
        QCOMPARE(store.search().current()->change.planId, std::uint64_t{2});
        QCOMPARE(store.search().mlp(1).skipped, 1);
        planned("one", 1, one); // the task is back
        QCOMPARE(store.search().task(), std::string("one"));
        QCOMPARE(store.search().trials().size(), std::size_t(2));
        QCOMPARE(store.search().bestSets().size(), std::size_t(1)); // no change of its set
        QCOMPARE(store.search().current()->trial->score, 0.5);
        QCOMPARE(store.search().trials().back().place, 2);
    }

    void eventsOfOlderRecordingsBelongToTheTaskOfTheirAnswer() {
        RunStore store;
        apply(store, PlanChanged{1, outline({1}, {}), 0.25, "start"}); // told before any answer
        PromptStarted started = promptStarted(1);
        started.task = "one";
        apply(store, started);
        apply(store, trial("start", 0, 0.5, 0.5, outline({1}, {})));
        QCOMPARE(store.search().task(), std::string("one"));
        QCOMPARE(store.search().current()->trial->score, 0.5);
        started.task = "two";
        apply(store, started);
        QCOMPARE(store.search().trials().size(), std::size_t(1)); // nothing is known of it yet
        apply(store, trial("start", 0, 0.75, 0.75, outline({2}, {})));
        QCOMPARE(store.search().task(), std::string("two"));
        QCOMPARE(store.search().trials().size(), std::size_t(1));
        QVERIFY(store.search().current() == nullptr);
        QCOMPARE(store.search().answerPlaces(), std::vector<int>{0});
    }

    void sublayerScoresTieOutWithTheTrials() {
        RunStore store;
        apply(store, trial("random", 1, 0.25, 0.25, outline({1}, {2})));
        apply(store, trial("random", 2, 0.75, 0.75, outline({2}, {2})));
        apply(store, trial("rescore", 2, 1.0, 1.0, outline({2}, {2})));
        const SublayerScores& attention = store.search().attention(1);
        QCOMPARE(attention.skipped, 1);
        QCOMPARE(attention.kept, 1);
        QCOMPARE(*attention.meanSkipped(), 0.25);
        QCOMPARE(*attention.meanKept(), 0.75);
        QCOMPARE(store.search().mlp(2).skipped, 2);
        QVERIFY(!store.search().mlp(2).meanKept());
        QCOMPARE(*store.search().mlp(2).meanSkipped(), 0.5);
    }

    void theBaselineComesFromPlainStepsAlone() {
        RunStore store;
        apply(store, promptStarted(1));
        QVERIFY(!store.speed().baselineMs());
        apply(store, plainStep(1, 0, "a", 20.0));
        QVERIFY(!store.speed().baselineMs());
        apply(store, plainStep(1, 1, "b", 30.0));
        StepFinished drafted = draftStep(1, 2, {"c", "d"}, 2, "e");
        drafted.draftMs = 10.0;
        drafted.verifyMs = 20.0;
        apply(store, drafted);
        DecodeMetrics total;
        total.rounds = 1;
        total.tokens = 3;
        total.accepted = total.draftSteps = 2;
        total.draftMs = 10.0;
        total.verifyMs = 20.0;
        apply(store, statistics(total));
        QCOMPARE(*store.speed().baselineMs(), 25.0);
        QCOMPARE(*store.speed().chat().speedup(), 2.5);
        const auto factors = store.speed().chat().factors();
        QCOMPARE(factors->draftCost, 0.2);
        QCOMPARE(factors->verifyCost, 0.8);
        const DecodeMetrics sums = store.speed().answer().sums;
        QCOMPARE(sums.ownRounds(), 1);
        QCOMPARE(sums.ownMs(), 30.0);
    }

    /// Where nothing seemed worth a draft: the method's own speed, and a sample of the baseline.
    void aPlainStepThatTheDecoderChoseCountsInItsSpeed() {
        RunStore store;
        apply(store, promptStarted(1));
        apply(store, plainStep(1, 0, "a", 20.0));
        StepFinished chosen = plainStep(1, 1, "b", 30.0);
        chosen.isBaseline = false;
        apply(store, chosen);
        StepFinished drafted = draftStep(1, 2, {"c", "d"}, 2, "e");
        drafted.verifyMs = 30.0;
        apply(store, drafted);
        DecodeMetrics total;
        total.rounds = total.plainRounds = 1;
        total.tokens = 3;
        total.accepted = total.draftSteps = 2;
        total.verifyMs = total.plainMs = 30.0;
        apply(store, statistics(total));
        QCOMPARE(*store.speed().baselineMs(), 25.0);
        QCOMPARE(*store.speed().chat().speedup(), 25.0 * 4.0 / 60.0);
        QCOMPARE(store.speed().chat().factors()->tokensPerRound, 2.0);
        QCOMPARE(store.speed().chat().factors()->verifyCost, 1.2);
        const DecodeMetrics sums = store.speed().answer().sums;
        QCOMPARE(sums.ownRounds(), 2);
        QCOMPARE(sums.rounds, 1);
        QCOMPARE(sums.ownTokens(), 4);
        QCOMPARE(sums.ownMs(), 60.0);
    }

    void nowIsTheLastTwoSecondsOfThisAnswer() {
        RunStore store;
        apply(store, promptStarted(1));
        const auto say = [&](std::uint64_t prompt, int step, double ms) {
            StepFinished drafted = draftStep(prompt, step, {"a"}, 1, "b");
            drafted.verifyMs = ms;
            apply(store, drafted);
        };
        say(1, 0, 900.0);
        say(1, 1, 1500.0);
        say(1, 2, 600.0);
        // The step in which the 2 s began counts whole.
        QCOMPARE(store.speed().now().sums.rounds, 2);
        QCOMPARE(store.speed().now().sums.verifyMs, 2100.0);
        QCOMPARE(store.speed().answer().sums.rounds, 3);
        QCOMPARE(store.speed().points().back().nowPerMs, 4.0 / 2100.0);
        apply(store, promptStarted(2));
        QVERIFY(store.speed().now().isEmpty());
        QVERIFY(store.speed().answer().isEmpty());
        say(2, 0, 100.0);
        QCOMPARE(store.speed().now().sums.rounds, 1);
    }

    void aNewSpanForgetsTheSumsAndIsMarked() {
        RunStore store;
        DecoderChosen chosen;
        chosen.info.title = "SWIFT";
        apply(store, chosen);
        apply(store, promptStarted(1));
        StepFinished drafted = draftStep(1, 0, {"a"}, 1, "b");
        drafted.verifyMs = 40.0;
        apply(store, drafted);
        Statistics told;
        told.baselineStepMs = 25.0;
        told.total.rounds = 1;
        told.total.tokens = 2;
        told.total.verifyMs = 40.0;
        apply(store, told);
        QCOMPARE(*store.speed().chat().speedup(), 1.25);
        apply(store, SpanStarted{2, SpanCause::Settings});
        QVERIFY(store.speed().chat().isEmpty());
        QVERIFY(!store.speed().answer().isEmpty()); // it is the same answer still
        QCOMPARE(*store.speed().baselineMs(), 25.0);
        QCOMPARE(store.speed().marks().size(), std::size_t(1));
        QCOMPARE(store.speed().marks().front().point, 1);
        QVERIFY(store.speed().marks().front().cause == SpanCause::Settings);
        QCOMPARE(store.speed().marks().front().decoder, std::string("SWIFT"));
    }

    void theBaselineThatTheEngineTellsHolds() {
        RunStore store;
        apply(store, promptStarted(1));
        apply(store, plainStep(1, 0, "a", 20.0));
        apply(store, plainStep(1, 1, "a", 20.0));
        QCOMPARE(*store.speed().baselineMs(), 20.0);
        Statistics told;
        told.baselineStepMs = 33.0;
        apply(store, told);
        QCOMPARE(*store.speed().baselineMs(), 33.0);
    }

    /// Such as behind a pause of more than a minute.
    void aBaselineThatTheEngineNoLongerTellsIsGone() {
        RunStore store;
        const auto tell = [&](double baselineMs) {
            Statistics told;
            told.baselineStepMs = baselineMs;
            apply(store, told);
        };
        apply(store, promptStarted(1));
        apply(store, plainStep(1, 0, "a", 20.0));
        apply(store, plainStep(1, 1, "a", 20.0));
        tell(20.0);
        apply(store, promptFinished(1));
        tell(20.0);
        apply(store, promptStarted(2));
        apply(store, draftStep(2, 0, {"a"}, 1, "b"));
        tell(0.0);
        QVERIFY(!store.speed().baselineMs());
        QVERIFY(!store.speed().now().speedup());
        QVERIFY(!store.speed().answer().speedup());
        QCOMPARE(*store.speed().chat().baselineMs, 20.0); // its steps are of that time
        tell(30.0);
        QCOMPARE(*store.speed().baselineMs(), 30.0);
    }

    void aPointHasTheSumsBehindItsOwnStep() {
        RunStore store;
        apply(store, promptStarted(1));
        for (int step = 0; step < 2; ++step) {
            StepFinished drafted = draftStep(1, step, {"a"}, 1, "b");
            drafted.verifyMs = 10.0;
            apply(store, drafted);
            DecodeMetrics total;
            total.rounds = step + 1;
            total.tokens = 2 * total.rounds;
            total.verifyMs = 10.0 * (step + 1);
            apply(store, statistics(total));
        }
        DecodeMetrics atTheEnd;
        atTheEnd.rounds = 2;
        atTheEnd.tokens = 4;
        atTheEnd.verifyMs = 20.0;
        atTheEnd.searchMs = 20.0;
        apply(store, statistics(atTheEnd));
        for (const SpeedPoint& point : store.speed().points())
            QCOMPARE(point.chatPerMs, 0.2);
        QCOMPARE(store.speed().chat().tokensPerMs(), 0.1);
    }

    void whatTheSearchTakesBehindTheLastStepIsOfTheAnswerToo() {
        RunStore store;
        apply(store, loadedModel());
        apply(store, promptStarted(1));
        StepFinished step = draftStep(1, 0, {"a"}, 1, "b");
        step.draftMs = 10.0;
        step.verifyMs = 20.0;
        step.searchMs = step.otherMs = 0.0;
        apply(store, step);
        PromptFinished end = promptFinished(1);
        end.decoding.searchMs = 30.0;
        apply(store, end);
        const DecodeMetrics total = store.speed().answer().sums; // as the engine sums the chat
        QCOMPARE(total.searchMs, 30.0);
        apply(store, statistics(total));
        QCOMPARE(*store.speed().answer().tokensPerSecond(), 2.0 / 60.0 * 1e3);
        QCOMPARE(store.speed().answer().tokensPerSecond(), store.speed().chat().tokensPerSecond());
    }

    /// Written while each step told the sums, and Statistics once more.
    void anOlderRecordingHasTheFiguresThatItHad() {
        auto reader = RunReader::open(SWIFT_STUDIO_TEST_DATA_DIR "/runs/sums_in_steps.swiftrun");
        QVERIFY(reader.hasValue());
        RunStore store;
        std::optional<PromptFinished> end;
        while (const auto event = reader.value().next().value()) {
            store.apply(*event);
            if (const auto* finished = event->as<PromptFinished>())
                end = *finished;
        }
        QCOMPARE(reader.value().unknownEvents(), 0);
        QVERIFY(end);
        QCOMPARE(end->decoding.rounds, 31); // its own figures, as that program told them
        QCOMPARE(end->decoding.accepted, 33);
        QCOMPARE(end->decoding.verifyMs, 5.728536007925868);
        QCOMPARE(store.speed().chat().sums, end->decoding);
        QCOMPARE(*store.speed().baselineMs(), 0.0313635);
        QCOMPARE(store.answers().latest()->text, end->text);
        QCOMPARE(store.answers().latest()->steps.size(), std::size_t{33});
        QCOMPARE(store.speed().points().size(), std::size_t{33});
        QVERIFY(store.speed().points().front().chatPerMs > 0.0);
        QCOMPARE(store.speed().points().back().chatPerMs, store.speed().chat().tokensPerMs());
    }

    /// A search of sets asks on its own: what people read of an answer stays that of theirs.
    void whatIsAskedOutOfSightIsInNoSpan() {
        RunStore store;
        apply(store, loadedModel());
        apply(store, promptStarted(kFirstHiddenPrompt + 1));
        apply(store, draftStep(kFirstHiddenPrompt + 1, 0, {"a"}, 1, "b"));
        Statistics told;
        told.baselineStepMs = 20.0;
        told.total.rounds = 1;
        apply(store, told);
        QVERIFY(store.speed().answer().isEmpty());
        QVERIFY(store.speed().now().isEmpty());
        QVERIFY(store.speed().points().empty());
        QCOMPARE(store.speed().chat().sums.rounds, 0);
        QCOMPARE(*store.speed().baselineMs(), 20.0); // the model's own, whoever asks
        apply(store, promptStarted(1));
        apply(store, draftStep(1, 0, {"a"}, 1, "b"));
        QCOMPARE(store.speed().answer().sums.rounds, 1);
    }

    void anAnswerKeepsTheBaselineOfItsEnd() {
        RunStore store;
        const auto tell = [&](double baselineMs) {
            Statistics told;
            told.baselineStepMs = baselineMs;
            apply(store, told);
        };
        apply(store, promptStarted(1));
        apply(store, draftStep(1, 0, {"a"}, 1, "b"));
        tell(20.0);
        apply(store, promptFinished(1));
        apply(store, promptStarted(kFirstHiddenPrompt + 1));
        tell(40.0);
        QCOMPARE(*store.speed().answer().baselineMs, 20.0);
        QCOMPARE(*store.speed().baselineMs(), 40.0);
        apply(store, promptStarted(2));
        QCOMPARE(*store.speed().answer().baselineMs, 40.0);
    }

    void anotherModelLeavesNoStepOfTheOldOne() {
        RunStore store;
        apply(store, loadedModel());
        apply(store, promptStarted(1));
        apply(store, draftStep(1, 0, {"a"}, 1, "b"));
        QVERIFY(!store.answers().latest()->steps.empty());
        QVERIFY(apply(store, loadedModel()).testFlag(Topic::Answers));
        QVERIFY(store.answers().latest()->steps.empty());
        QCOMPARE(store.answers().latest()->text, std::string("ab")); // what was said stays
    }

    void aReplayThatGoesBackBeginsWithAnEmptyStore() {
        RunStore store;
        apply(store, loadedModel());
        apply(store, promptStarted(1));
        apply(store, plainStep(1, 0, "a", 20.0));
        const int number = store.speed().number();
        store.rewind();
        QVERIFY(store.model() == nullptr);
        QVERIFY(store.answers().answers().empty());
        QVERIFY(store.speed().points().empty());
        QVERIFY(store.speed().number() != number); // other points than before
    }

    void anotherDecoderKeepsTheBaselineAnotherModelDoesNot() {
        RunStore store;
        apply(store, promptStarted(1));
        apply(store, plainStep(1, 0, "a", 20.0));
        apply(store, plainStep(1, 1, "a", 20.0));
        apply(store, DecoderChosen{});
        QVERIFY(store.speed().baselineMs());
        apply(store, loadedModel());
        QVERIFY(!store.speed().baselineMs());
        QVERIFY(store.search().trials().empty());
    }

    void eachEventNamesWhatItChanged() {
        RunStore store;
        QVERIFY(apply(store, loadedModel()).testFlag(Topic::Model));
        QVERIFY(apply(store, promptStarted(1)).testFlag(Topic::Answers));
        const Topics step = apply(store, plainStep(1, 0, "a", 1.0));
        QVERIFY(step.testFlag(Topic::Answers) && step.testFlag(Topic::Speed));
        QVERIFY(!step.testFlag(Topic::Search));
        QCOMPARE(apply(store, Note{"r is lowered"}), Topics(Topic::Notes));
        QVERIFY(apply(store, SettingsChanged{}).testFlag(Topic::Decoder));
    }

    void aFailedLoadEndsItsProgress() {
        RunStore store;
        apply(store, ModelLoadProgress{"a.gguf", "weights", 0.5});
        QVERIFY(store.loading() != nullptr);
        apply(store, EngineFailed{Error{ErrorCode::Io, "no", ""}, "load_model", 0});
        QVERIFY(store.loading() == nullptr);
    }
};

QTEST_APPLESS_MAIN(RunStoreTest)
#include "run_store_test.moc"
