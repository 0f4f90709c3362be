// SPDX-License-Identifier: Apache-2.0
// A training from its beginning to its end; resumed_training_test tells of those that are stopped.
#include "tests/engine/tuning/training_run.h"

#include <QTest>

#include <set>

using namespace engine;

namespace {

/// Has this many good drafts after each step that is named, and none after others.
auto scoresOf(std::map<std::int64_t, std::int64_t> scores) {
    return [scores = std::move(scores)](FakeTrainer& trainer) {
        trainer.score = [scores](std::int64_t step) {
            return scores.contains(step) ? scores.at(step) : std::int64_t{0};
        };
    };
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Whether the steps [first, end) of the newest trainer had the terms of the schedule from `step`
/// on, at this part of its rate.
bool haveTerms(const TrainingRun& run,
               std::size_t first,
               std::size_t end,
               const Schedule& schedule,
               std::int64_t step,
               double factor = 1.0) {
    for (std::size_t i = first; i < end; ++i, ++step) {
        const StepTerms& terms = run.trainer->steps.at(i).terms;
        const StepTerms wanted = schedule.at(step);
        if (terms.rate != wanted.rate * factor || terms.streamLoss != wanted.streamLoss ||
            terms.overlap != wanted.overlap)
            return false;
    }
    return true;
}

} // namespace

class DraftTrainingTest : public QObject {
    Q_OBJECT

private slots:
    void anEpochTakesEveryTextOnce();
    void stepsTakeTheTermsOfTheSchedule();
    void theNumberOfStepsCanBeGiven();
    void evaluationsComeWhenTheyAreDueAndAtTheEnd();
    void theBestWeightsAreKeptAndNotTheLast();
    void withoutHeldOutAnswersThatIsSaid();
    void withoutAnswersThereIsNothingToTrainOn();
    void aLossThatIsNotFiniteGoesBackAtHalfTheRate();
    void itGoesBackToTheNewestGoodState();
    void theThirdLossThatIsNotFiniteEndsItWithTheBestWeights();
    void withoutAnyEvaluationTheThirdOneLeavesNoResult();
    void itEndsEarlyWhenNothingGetsBetter();
    void minutesDecideTheNumberOfSteps();
    void aStepBackDecidesNothingAnew();
    void itEndsEarlyOnlyOnceTimeHasDecided();
    void enoughMinutesChangeNothing();
    void noMinutesLeftEndItSoon();
    void aStepThatTakesLongDecidesAlone();
    void evaluationsTakeTheirPartOfTheMinutes();
    void theTimeLeftCountsEvaluations();
    void noMoreTimeIsLeftThanWasGiven();
};

void DraftTrainingTest::anEpochTakesEveryTextOnce() {
    TrainingRun run;
    const TrainingResult result = run.finish();
    QCOMPARE(result.steps, std::int64_t{4 * TrainingRun::kStepsOfEpoch});
    const auto& steps = run.trainer->steps;
    QCOMPARE(steps.size(), std::size_t{4 * TrainingRun::kStepsOfEpoch});
    std::set<std::vector<TokenId>> orders;
    for (std::size_t epoch = 0; epoch < 4; ++epoch) {
        std::vector<TokenId> texts;
        for (std::size_t step = 0; step < TrainingRun::kStepsOfEpoch; ++step)
            for (const TokenId text : steps[epoch * TrainingRun::kStepsOfEpoch + step].texts)
                texts.push_back(text);
        QCOMPARE(texts.size(), std::size_t{TrainingRun::kTexts});
        orders.insert(texts);
        std::sort(texts.begin(), texts.end());
        for (int text = 0; text < TrainingRun::kTexts; ++text)
            QCOMPARE(texts[toSize(text)], text); // and none that is held out
    }
    QCOMPARE(orders.size(), std::size_t{4});
}

void DraftTrainingTest::stepsTakeTheTermsOfTheSchedule() {
    TrainingRun run;
    run.finish();
    QVERIFY(haveTerms(run, 0, 20, makeSchedule(20, run.plan.rate, run.plan.streamLoss), 0));
    QVERIFY(run.notes.empty());
}

void DraftTrainingTest::theNumberOfStepsCanBeGiven() {
    TrainingRun run;
    run.plan.steps = 7;
    run.plan.minutes = 1e-9; // counts for the answers alone
    std::vector<std::int64_t> told;
    run.watch.stepped = [&](const TrainingProgress& progress) {
        QCOMPARE(progress.steps, std::int64_t{7});
        QCOMPARE(progress.tokensPerSecond, 8.0); // two texts with four rows of an answer
        told.push_back(progress.step);
    };
    QCOMPARE(run.finish().steps, std::int64_t{7});
    QCOMPARE(told, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7}));
    QVERIFY(haveTerms(run, 0, 7, makeSchedule(7, run.plan.rate, run.plan.streamLoss), 0));
}

void DraftTrainingTest::evaluationsComeWhenTheyAreDueAndAtTheEnd() {
    TrainingRun run;
    run.plan.steps = 12;
    run.finish();
    QCOMPARE(run.evaluated, (std::vector<std::int64_t>{5, 10, 12}));
    TrainingRun even;
    even.plan.steps = 10;
    even.finish();
    QCOMPARE(even.evaluated, (std::vector<std::int64_t>{5, 10}));
}

void DraftTrainingTest::theBestWeightsAreKeptAndNotTheLast() {
    TrainingRun run;
    run.prepares = scoresOf({{5, 300}, {10, 500}, {15, 500}, {20, 100}});
    const TrainingResult result = run.finish();
    QCOMPARE(result.best.step, std::int64_t{10}); // the first of equals
    QVERIFY(result.isHeldOut);
    QCOMPARE(result.best.rows, std::int64_t{8});
    QCOMPARE(result.best.all.hits[0], std::int64_t{1000});
    QCOMPARE(result.best.byTask.at("even").hits[0], std::int64_t{500});
    QCOMPARE(result.best.byTask.at("odd").hits[0], std::int64_t{500});
    QVERIFY(result.weights == run.bestWeights);
    QVERIFY(result.weights != run.trainer->result());
    QCOMPARE(result.steps, std::int64_t{20});
    QCOMPARE(result.seconds, 20.0);
}

void DraftTrainingTest::withoutHeldOutAnswersThatIsSaid() {
    TrainingRun run(TrainingRun::kTexts, 0);
    const TrainingResult result = run.finish();
    QVERIFY(!result.isHeldOut);
    QCOMPARE(result.best.rows, std::int64_t{4 * TrainingRun::kTexts});
    QCOMPARE(run.notes.size(), std::size_t{1});
    QVERIFY(contains(run.notes[0], "No answers are held out"));
}

void DraftTrainingTest::withoutAnswersThereIsNothingToTrainOn() {
    TrainingRun run(0, 2);
    const auto refused = run.start();
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
    QVERIFY(!refused.error().hint.empty());
}

void DraftTrainingTest::aLossThatIsNotFiniteGoesBackAtHalfTheRate() {
    TrainingRun run;
    run.prepares = [](FakeTrainer& trainer) {
        trainer.fails = [](int call, std::int64_t) { return call == 8; };
    };
    QCOMPARE(run.finish().steps, std::int64_t{20});
    const auto& steps = run.trainer->steps;
    QCOMPARE(steps.size(), std::size_t{8 + 20});
    const Schedule schedule = makeSchedule(20, run.plan.rate, run.plan.streamLoss);
    QVERIFY(haveTerms(run, 0, 8, schedule, 0));
    QVERIFY(haveTerms(run, 8, 28, schedule, 0, 0.5));
    for (std::size_t step = 0; step < 8; ++step)
        QCOMPARE(steps[8 + step].texts, steps[step].texts);
    QCOMPARE(run.evaluated, (std::vector<std::int64_t>{5, 5, 10, 15, 20}));
    QCOMPARE(run.notes.size(), std::size_t{1});
    QVERIFY(contains(run.notes[0], "The loss is not finite."));
    QVERIFY(contains(run.notes[0], "from step 0 at a rate of 0.005."));
    // Nothing is left of the steps that were given up.
    TrainingRun slower;
    slower.plan.rate = run.plan.rate / 2;
    slower.finish();
    QVERIFY(run.trainer->state() == slower.trainer->state());
}

void DraftTrainingTest::itGoesBackToTheNewestGoodState() {
    TrainingRun run;
    run.plan.steps = 510;
    run.plan.validationSteps = 100;
    run.prepares = [](FakeTrainer& trainer) {
        trainer.fails = [](int call, std::int64_t) { return call == 505; };
    };
    QCOMPARE(run.finish().steps, std::int64_t{510});
    const auto& steps = run.trainer->steps;
    QCOMPARE(steps.size(), std::size_t{505 + 10});
    const Schedule schedule = makeSchedule(510, run.plan.rate, run.plan.streamLoss);
    QVERIFY(haveTerms(run, 0, 505, schedule, 0));
    QVERIFY(haveTerms(run, 505, 515, schedule, 500, 0.5));
    for (std::size_t step = 500; step < 505; ++step)
        QCOMPARE(steps[5 + step].texts, steps[step].texts);
    QCOMPARE(run.evaluated, (std::vector<std::int64_t>{100, 200, 300, 400, 500, 510}));
}

void DraftTrainingTest::theThirdLossThatIsNotFiniteEndsItWithTheBestWeights() {
    TrainingRun run;
    run.prepares = [](FakeTrainer& trainer) {
        trainer.fails = [](int, std::int64_t steps) { return steps == 8; };
    };
    const TrainingResult ended = run.finish();
    QVERIFY(ended.failure.has_value());
    QCOMPARE(ended.failure->code, ErrorCode::Numeric);
    QVERIFY(contains(ended.failure->message, "third time"));
    QVERIFY(contains(ended.failure->message, "the state of step 5."));
    QVERIFY(contains(ended.failure->hint, "--retrain --set rate=0.001.")); // not one of the three
    QCOMPARE(ended.best.step, std::int64_t{5});
    QCOMPARE(ended.steps, std::int64_t{8});
    QVERIFY(ended.weights == run.bestWeights);
    QCOMPARE(run.notes.size(), std::size_t{2});
    QVERIFY(contains(run.notes[1], "at a rate of 0.0025."));
    const Schedule schedule = makeSchedule(20, run.plan.rate, run.plan.streamLoss);
    QCOMPARE(run.trainer->steps.size(), std::size_t{24});
    QVERIFY(haveTerms(run, 8, 16, schedule, 0, 0.5));
    QVERIFY(haveTerms(run, 16, 24, schedule, 0, 0.25));
    // The best weights of all three attempts are there.
    CheckpointFiles files(run.folder(), run.owner());
    const auto left = files.newest({});
    QVERIFY(left.hasValue() && left.value().has_value());
    QVERIFY(left.value()->best == run.bestWeights);
    QVERIFY(!run.bestWeights.empty());
    QCOMPARE(left.value()->place.step, std::int64_t{8});
    QCOMPARE(left.value()->place.failures, 0); // or --resume would fail at once
}

void DraftTrainingTest::withoutAnyEvaluationTheThirdOneLeavesNoResult() {
    TrainingRun run;
    run.prepares = [](FakeTrainer& trainer) {
        trainer.fails = [](int, std::int64_t steps) { return steps == 3; };
    };
    const auto ended = run.start();
    QVERIFY(!ended.hasValue());
    QCOMPARE(ended.error().code, ErrorCode::Numeric);
    QVERIFY(contains(ended.error().message, "third time, before any state was judged."));
    QVERIFY(contains(ended.error().hint, "--set rate=0.001."));
}

void DraftTrainingTest::itEndsEarlyWhenNothingGetsBetter() {
    TrainingRun run;
    run.plan.steps = 100;
    run.prepares = [](FakeTrainer& trainer) {
        trainer.score = [](std::int64_t step) { return 900 - step; };
    };
    const TrainingResult result = run.finish();
    QCOMPARE(result.steps,
             std::int64_t{60}); // six evaluations behind that of step 5, then 25 steps
    QCOMPARE(result.best.step, std::int64_t{5});
    QVERIFY(result.weights == run.bestWeights);
    const Schedule schedule = makeSchedule(100, run.plan.rate, run.plan.streamLoss);
    QVERIFY(haveTerms(run, 0, 35, schedule, 0));
    QVERIFY(haveTerms(run, 35, 60, schedule.endedFrom(35), 35));
    QCOMPARE(run.evaluated.size(), std::size_t{12});
    QCOMPARE(run.notes.size(), std::size_t{1});
    QVERIFY(contains(run.notes[0], "ends at step 60 instead of 100"));
}

void DraftTrainingTest::minutesDecideTheNumberOfSteps() {
    TrainingRun run;
    run.plan.epochs = 100;
    run.plan.minutes = 1.0;
    run.plan.validationSteps = 1000;
    run.secondsBefore = 5.5;
    std::vector<std::int64_t> told;
    run.watch.stepped = [&](const TrainingProgress& progress) { told.push_back(progress.steps); };
    // Five steps of a second take a tenth of the 49.5 s that are left then; of 95 % of these 47
    // steps can be made.
    QCOMPARE(run.finish().steps, std::int64_t{52});
    QCOMPARE(told.front(), std::int64_t{500});
    QCOMPARE(told.back(), std::int64_t{52});
    QVERIFY(haveTerms(run, 0, 5, makeSchedule(500, run.plan.rate, run.plan.streamLoss), 0));
    QVERIFY(haveTerms(run, 5, 52, makeSchedule(52, run.plan.rate, run.plan.streamLoss), 5));
    QCOMPARE(run.evaluated, std::vector<std::int64_t>{52});
}

/// As above, but the ninth step fails, when the 52 steps are decided.
void DraftTrainingTest::aStepBackDecidesNothingAnew() {
    TrainingRun run;
    run.plan.epochs = 100;
    run.plan.minutes = 1.0;
    run.plan.validationSteps = 1000;
    run.secondsBefore = 5.5;
    run.prepares = [](FakeTrainer& trainer) {
        trainer.fails = [](int call, std::int64_t) { return call == 8; };
    };
    QCOMPARE(run.finish().steps, std::int64_t{52});
    QCOMPARE(run.trainer->steps.size(), std::size_t{8 + 52});
    const Schedule schedule = makeSchedule(52, run.plan.rate, run.plan.streamLoss);
    QVERIFY(haveTerms(run, 8, 60, schedule, 0, 0.5));
}

/// Time decides behind step 20. Six evaluations have found nothing better before.
void DraftTrainingTest::itEndsEarlyOnlyOnceTimeHasDecided() {
    TrainingRun run;
    run.plan.epochs = 100; // 500 steps
    run.plan.minutes = 10.0;
    run.plan.validationSteps = 1;
    run.prepares = [](FakeTrainer& trainer) {
        trainer.score = [](std::int64_t step) { return 900 - step; };
    };
    QCOMPARE(run.finish().steps, std::int64_t{20 + 125});
    QCOMPARE(run.notes.size(), std::size_t{1});
    QVERIFY(contains(run.notes[0], "ends at step 145 instead of 500"));
    const Schedule schedule = makeSchedule(500, run.plan.rate, run.plan.streamLoss);
    QVERIFY(haveTerms(run, 0, 20, schedule, 0));
    QVERIFY(haveTerms(run, 20, 145, schedule.endedFrom(20), 20));
}

void DraftTrainingTest::enoughMinutesChangeNothing() {
    TrainingRun run;
    run.plan.epochs = 6;
    run.plan.minutes = 60.0;
    QCOMPARE(run.finish().steps, std::int64_t{30});
    QVERIFY(haveTerms(run, 0, 30, makeSchedule(30, run.plan.rate, run.plan.streamLoss), 0));
}

void DraftTrainingTest::noMinutesLeftEndItSoon() {
    TrainingRun late;
    late.plan.epochs = 100;
    late.plan.minutes = 0.25;
    late.secondsBefore = 15.0; // by the answers
    QCOMPARE(late.finish().steps, std::int64_t{2});
    TrainingRun over; // all steps are made when time is looked at
    over.plan.minutes = 0.25;
    over.secondsBefore = 15.0;
    over.plan.epochs = 1;
    over.plan.stepRows = 1'000'000; // all texts in one step
    QCOMPARE(over.finish().steps, std::int64_t{1});
}

void DraftTrainingTest::aStepThatTakesLongDecidesAlone() {
    TrainingRun run;
    run.plan.epochs = 100;
    run.plan.minutes = 10.0;
    run.stepMs = 60'000.0;
    QCOMPARE(run.finish().steps, std::int64_t{9}); // 8 fit into 95 % of the other nine minutes
}

/// Each evaluation takes four seconds.
void DraftTrainingTest::evaluationsTakeTheirPartOfTheMinutes() {
    const auto begin = [](TrainingRun& run) {
        run.plan.epochs = 100;
        run.plan.minutes = 1.0;
        run.prepares = [&run](FakeTrainer& trainer) {
            trainer.evaluating = [&run] { run.clockMs += 2000.0; }; // each of two texts
        };
    };
    TrainingRun run;
    begin(run);
    // It is decided behind the sixth step, when 10 s of the minute are gone. Of 95 % of the others
    // 24 steps and 5 evaluations can be made.
    QCOMPARE(run.finish().steps, std::int64_t{30});
    QCOMPARE(run.clockMs, 54e3);
    TrainingRun early; // it is decided before any evaluation, behind the second step
    begin(early);
    early.stepMs = 5000.0;
    early.plan.validationSteps = 3;
    QCOMPARE(early.finish().steps, std::int64_t{8});
    QCOMPARE(early.evaluated, (std::vector<std::int64_t>{3, 6, 8}));
    QCOMPARE(early.clockMs, 56e3); // with one that was made to see what it takes
}

/// Steps of a second, and behind every fifth one an evaluation of ten.
void DraftTrainingTest::theTimeLeftCountsEvaluations() {
    TrainingRun run;
    run.prepares = [&run](FakeTrainer& trainer) {
        trainer.evaluating = [&run] { run.clockMs += 5000.0; }; // each of two texts
    };
    std::vector<double> left;
    run.watch.stepped = [&](const TrainingProgress& progress) {
        left.push_back(progress.secondsLeft);
    };
    run.finish();
    QCOMPARE(left.size(), std::size_t{20});
    QCOMPARE(left[6], 13.0 + 3 * 10.0);
    QCOMPARE(left[14], 5.0 + 2 * 10.0); // its own is still to come
    QCOMPARE(left[19], 10.0);
}

void DraftTrainingTest::noMoreTimeIsLeftThanWasGiven() {
    TrainingRun run;
    run.plan.epochs = 100; // 500 steps, if there were time for them
    run.plan.minutes = 1.0;
    run.plan.validationSteps = 1000;
    run.secondsBefore = 5.5;
    std::vector<double> left;
    run.watch.stepped = [&](const TrainingProgress& progress) {
        left.push_back(progress.secondsLeft);
    };
    run.finish();
    QCOMPARE(left.front(), 53.5);
    QCOMPARE(left[4], 49.5);
}

QTEST_GUILESS_MAIN(DraftTrainingTest)
#include "draft_training_test.moc"
