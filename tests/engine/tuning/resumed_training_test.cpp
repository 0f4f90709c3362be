// SPDX-License-Identifier: Apache-2.0
// Trainings that are stopped or killed, and go on as if nothing had been.
#include "tests/engine/tuning/training_run.h"
#include "tests/support/programs/allocation_counter.h"
#include "tests/support/programs/damaged_bytes.h"

#include <QTest>

using namespace engine;

namespace {

/// Thrown where a process is killed: nothing but its files is left.
struct Killed {};

bool areSame(const DraftHits& one, const DraftHits& two) {
    return one.tried == two.tried && one.hits == two.hits && one.exits == two.exits;
}

bool areSame(const Evaluation& one, const Evaluation& two) {
    bool isSame = one.step == two.step && one.rows == two.rows && areSame(one.all, two.all) &&
                  one.byTask.size() == two.byTask.size();
    for (const auto& [task, hits] : one.byTask)
        isSame = isSame && two.byTask.contains(task) && areSame(hits, two.byTask.at(task));
    return isSame;
}

bool areSame(const TrainingResult& one, const TrainingResult& two) {
    return one.weights == two.weights && areSame(one.best, two.best) && one.steps == two.steps &&
           one.isHeldOut == two.isHeldOut;
}

/// Minutes between checkpoints of three steps.
constexpr double kThreeSteps = 0.05;

/// Lets the next start be killed behind this step.
void killBehind(TrainingRun& run, std::int64_t step) {
    run.watch.stepped = [step](const TrainingProgress& progress) {
        if (progress.step == step)
            throw Killed();
    };
}

/// Goes on to the end and compares with a training that nothing disturbed.
bool endsLike(TrainingRun& run, TrainingRun& undisturbed) {
    run.watch.stepped = {};
    run.onEvaluated = {};
    const TrainingResult result = run.finish();
    return areSame(result, undisturbed.finish()) &&
           run.trainer->state() == undisturbed.trainer->state();
}

std::filesystem::path checkpointFile(const TrainingRun& run, const std::string& which) {
    return run.folder() / ("checkpoint-" + which + ".bin");
}

std::int64_t serialOf(const TrainingRun& run, const std::string& which) {
    const auto read = readCheckpoint(checkpointFile(run, which), run.owner());
    ENGINE_CHECK(read.hasValue(), "{}", read.error().message);
    return read.value().place.serial;
}

Checkpoint someCheckpoint() {
    Checkpoint made;
    made.place = {.serial = 7,
                  .step = 41,
                  .order = {3, 2},
                  .schedule = makeSchedule(100, 0.1 + 0.2, 1.0 / 3.0).endedFrom(40),
                  .isFixed = true,
                  .minutes = 1.5,
                  .rateFactor = 0.25,
                  .failures = 2,
                  .evaluated = 40,
                  .worse = 3,
                  .goodStep = 0,
                  .seconds = 12.75,
                  .best = Evaluation{.step = 20,
                                     .rows = 99,
                                     .all = {{4, 3, 2, 1}, {3, 2, 1, 0}},
                                     .byTask = {{"Grüße \"x\"", {{4, 3, 2, 1}, {3, 2, 1, 0}}}}}};
    made.trainer = {{"weights", {1.5F, -0.0F, 1e-40F}}, {"empty", {}}};
    made.best = {{"norm.out", {3.0F}}};
    return made;
}

} // namespace

class ResumedTrainingTest : public QObject {
    Q_OBJECT

private slots:
    void aKilledTrainingEndsLikeAnUndisturbedOne_data();
    void aKilledTrainingEndsLikeAnUndisturbedOne();
    void oneThatIsKilledBehindAnEvaluationDoesSo();
    void oneThatIsKilledTwiceDoesSo();
    void aStoppedTrainingEndsLikeAnUndisturbedOne_data();
    void aStoppedTrainingEndsLikeAnUndisturbedOne();
    void oneThatIsStoppedInTheMiddleOfAStepDoesSo();
    void oneThatIsStoppedInAnEvaluationDoesSo();
    void oneThatHadGoneBackDoesSo();
    void oneThatWasGivenUpHasAllTriesAgain();
    void aNumberOfStepsThatTimeHasDecidedStays();
    void withOtherMinutesItIsDecidedAnew();
    void aFinishedTrainingHasNothingToDo();
    void aDamagedCheckpointGivesWayToTheOther();
    void theReadableCheckpointIsNotOverwritten();
    void damagedCheckpointsGiveWayToTheGoodState();
    void withDamagedFilesAloneItDoesNotBeginAnew();
    void oneCheckpointAtATimeIsInMemory();
    void whatACheckpointHoldsIsReadAgain();
    void foreignAndDamagedCheckpointsAreRefused();
};

void ResumedTrainingTest::aKilledTrainingEndsLikeAnUndisturbedOne_data() {
    QTest::addColumn<int>("step");
    for (const int step : {1, 4, 5, 6, 11, 17, 19, 20})
        QTest::addRow("%d", step) << step;
}

void ResumedTrainingTest::aKilledTrainingEndsLikeAnUndisturbedOne() {
    QFETCH(const int, step);
    TrainingRun run;
    run.checkpointMinutes = kThreeSteps;
    killBehind(run, step);
    QVERIFY_THROWS_EXCEPTION(Killed, (void)run.start());
    TrainingRun undisturbed;
    QVERIFY(endsLike(run, undisturbed));
    QVERIFY(run.trainer->steps.size() >= toSize(20 - step));
    QVERIFY(run.trainer->steps.size() <= toSize(20 - step + 3)); // little is made again
    QVERIFY(run.notes.empty());
}

void ResumedTrainingTest::oneThatIsKilledBehindAnEvaluationDoesSo() {
    for (const std::int64_t step : {5, 10, 20}) {
        TrainingRun run;
        run.checkpointMinutes = 0.0;
        run.onEvaluated = [step](std::int64_t evaluated) {
            if (evaluated == step)
                throw Killed();
        };
        QVERIFY_THROWS_EXCEPTION(Killed, (void)run.start());
        TrainingRun undisturbed;
        QVERIFY(endsLike(run, undisturbed));
    }
}

void ResumedTrainingTest::oneThatIsKilledTwiceDoesSo() {
    TrainingRun run;
    run.checkpointMinutes = kThreeSteps;
    for (const std::int64_t step : {7, 13}) {
        killBehind(run, step);
        QVERIFY_THROWS_EXCEPTION(Killed, (void)run.start());
    }
    TrainingRun undisturbed;
    QVERIFY(endsLike(run, undisturbed));
}

void ResumedTrainingTest::aStoppedTrainingEndsLikeAnUndisturbedOne_data() {
    QTest::addColumn<int>("step");
    for (const int step : {1, 5, 8, 20})
        QTest::addRow("%d", step) << step;
}

void ResumedTrainingTest::aStoppedTrainingEndsLikeAnUndisturbedOne() {
    QFETCH(const int, step);
    TrainingRun run;
    std::stop_source source;
    run.watch.stepped = [&](const TrainingProgress& progress) {
        if (progress.step == step)
            source.request_stop();
    };
    const auto stopped = run.start(source.get_token());
    QVERIFY(!stopped.hasValue());
    QCOMPARE(stopped.error().code, ErrorCode::Cancelled);
    QCOMPARE(run.trainer->steps.size(), toSize(step));
    TrainingRun undisturbed;
    QVERIFY(endsLike(run, undisturbed));
    QCOMPARE(run.trainer->steps.size(), toSize(20 - step)); // nothing is made again
}

void ResumedTrainingTest::oneThatIsStoppedInTheMiddleOfAStepDoesSo() {
    TrainingRun run;
    std::stop_source source;
    run.prepares = [&](FakeTrainer& trainer) {
        trainer.stepping = [&] {
            if (trainer.stepCount() == 7)
                source.request_stop();
        };
    };
    const auto stopped = run.start(source.get_token());
    QVERIFY(!stopped.hasValue());
    QCOMPARE(stopped.error().code, ErrorCode::Cancelled);
    QCOMPARE(run.trainer->steps.size(), std::size_t{7});
    run.prepares = {};
    TrainingRun undisturbed;
    QVERIFY(endsLike(run, undisturbed));
    QCOMPARE(run.trainer->steps.size(), std::size_t{13}); // the step at work is made anew
}

void ResumedTrainingTest::oneThatIsStoppedInAnEvaluationDoesSo() {
    TrainingRun run;
    std::stop_source source;
    run.prepares = [&](FakeTrainer& trainer) {
        trainer.evaluating = [&source] { source.request_stop(); };
    };
    const auto stopped = run.start(source.get_token());
    QVERIFY(!stopped.hasValue());
    QCOMPARE(stopped.error().code, ErrorCode::Cancelled);
    QVERIFY(run.evaluated.empty()); // there was one more text
    run.prepares = {};
    TrainingRun undisturbed;
    QVERIFY(endsLike(run, undisturbed));
    QCOMPARE(run.trainer->steps.size(), std::size_t{15});
}

void ResumedTrainingTest::oneThatHadGoneBackDoesSo() {
    const auto failOnce = [](TrainingRun& run, bool& hasFailed) {
        run.prepares = [&hasFailed](FakeTrainer& trainer) {
            trainer.fails = [&hasFailed](int, std::int64_t steps) {
                const bool fails = steps == 8 && !hasFailed;
                hasFailed = hasFailed || fails;
                return fails;
            };
        };
    };
    bool hasFailed = false;
    TrainingRun run;
    run.checkpointMinutes = 0.0;
    failOnce(run, hasFailed);
    run.watch.stepped = [&](const TrainingProgress& progress) {
        if (hasFailed && progress.step == 3)
            throw Killed();
    };
    QVERIFY_THROWS_EXCEPTION(Killed, (void)run.start());
    bool hasFailedToo = false;
    TrainingRun undisturbed;
    failOnce(undisturbed, hasFailedToo);
    QVERIFY(endsLike(run, undisturbed));
    QVERIFY(hasFailed && hasFailedToo);
    QCOMPARE(run.trainer->steps.size(), std::size_t{18});
    QCOMPARE(run.trainer->steps.back().terms.rate, undisturbed.trainer->steps.back().terms.rate);
}

void ResumedTrainingTest::oneThatWasGivenUpHasAllTriesAgain() {
    TrainingRun run;
    run.prepares = [](FakeTrainer& trainer) {
        trainer.fails = [](int, std::int64_t steps) { return steps == 8; };
    };
    for (int start = 0; start < 2; ++start) {
        const TrainingResult ended = run.finish();
        QVERIFY(ended.failure.has_value());
        QCOMPARE(ended.failure->code, ErrorCode::Numeric);
    }
    QCOMPARE(run.trainer->steps.size(), std::size_t{2 * 8}); // of the second start
    QCOMPARE(run.trainer->steps.front().terms.rate, run.plan.rate / 8);
    QCOMPARE(run.trainer->steps.back().terms.rate, run.plan.rate / 16);
    run.prepares = {}; // the computer was at fault
    QVERIFY(!run.finish().failure);
    TrainingRun undisturbed;
    undisturbed.finish();
    QCOMPARE(run.trainer->steps.size(), std::size_t{12});
    for (std::size_t step = 0; step < 12; ++step)
        QCOMPARE(run.trainer->steps[step].texts, undisturbed.trainer->steps[8 + step].texts);
}

void ResumedTrainingTest::aNumberOfStepsThatTimeHasDecidedStays() {
    TrainingRun run;
    run.plan.epochs = 100;
    run.plan.minutes = 1.0;
    run.plan.validationSteps = 1000;
    run.secondsBefore = 5.5;
    killBehind(run, 30);
    QVERIFY_THROWS_EXCEPTION(Killed, (void)run.start());
    run.watch.stepped = {};
    run.stepMs = 5000.0; // another machine
    QCOMPARE(run.finish().steps, std::int64_t{52});
    QCOMPARE(run.trainer->steps.size(), std::size_t{47}); // from the moment of the decision on
    const Schedule schedule = makeSchedule(52, run.plan.rate, run.plan.streamLoss);
    QCOMPARE(run.trainer->steps.front().terms.rate, schedule.at(5).rate);
}

void ResumedTrainingTest::withOtherMinutesItIsDecidedAnew() {
    TrainingRun run;
    run.plan.epochs = 100;
    run.plan.minutes = 1.0;
    run.plan.validationSteps = 1000;
    run.secondsBefore = 5.5;
    killBehind(run, 30);
    QVERIFY_THROWS_EXCEPTION(Killed, (void)run.start()); // decided behind step 5: 52 steps
    run.watch.stepped = {};
    run.plan.minutes = 2.0;
    QCOMPARE(run.finish().steps, std::int64_t{109}); // 15, and 95 % of the 99.5 s that are left
    QCOMPARE(run.trainer->steps.size(), std::size_t{104});
    const Schedule schedule = makeSchedule(109, run.plan.rate, run.plan.streamLoss);
    QCOMPARE(run.trainer->steps.back().terms.rate, schedule.at(108).rate);
    for (const double minutes : {2.0, 1.0, 2.0}) { // it has ended
        run.plan.minutes = minutes;
        QCOMPARE(run.finish().steps, std::int64_t{109});
        QVERIFY(run.trainer->steps.empty());
    }
    run.plan.minutes = 3.0;
    QCOMPARE(run.finish().steps, std::int64_t{171});
    QCOMPARE(run.trainer->steps.size(), std::size_t{62});
}

void ResumedTrainingTest::aFinishedTrainingHasNothingToDo() {
    TrainingRun run;
    const TrainingResult first = run.finish();
    const std::size_t evaluations = run.evaluated.size();
    QVERIFY(areSame(run.finish(), first));
    QVERIFY(run.trainer->steps.empty());
    QCOMPARE(run.evaluated.size(), evaluations);
}

void ResumedTrainingTest::aDamagedCheckpointGivesWayToTheOther() {
    TrainingRun run;
    run.checkpointMinutes = 0.0;
    killBehind(run, 11);
    QVERIFY_THROWS_EXCEPTION(Killed, (void)run.start());
    const std::string newest = serialOf(run, "0") > serialOf(run, "1") ? "0" : "1";
    tuning_rows::damage(checkpointFile(run, newest), 20);
    TrainingRun undisturbed;
    QVERIFY(endsLike(run, undisturbed));
    QCOMPARE(run.notes.size(), std::size_t{1});
    QVERIFY(run.notes[0].find(checkpointFile(run, newest).string()) != std::string::npos);
    QCOMPARE(run.trainer->steps.size(), std::size_t{20 - 9}); // the newest one was of step 10
}

void ResumedTrainingTest::theReadableCheckpointIsNotOverwritten() {
    for (const bool isNewest : {true, false}) {
        TrainingRun run;
        run.checkpointMinutes = 0.0;
        killBehind(run, 11);
        QVERIFY_THROWS_EXCEPTION(Killed, (void)run.start());
        const bool isFirst = (serialOf(run, "0") > serialOf(run, "1")) == isNewest;
        const auto damaged = checkpointFile(run, isFirst ? "0" : "1");
        const auto readable = checkpointFile(run, isFirst ? "1" : "0");
        tuning_rows::damage(damaged, 20);
        const std::string before = tuning_rows::bytesOf(readable);
        run.watch.stepped = {};
        run.checkpointMinutes = 1e9;
        std::stop_source source;
        source.request_stop();
        QCOMPARE(run.start(source.get_token()).error().code, ErrorCode::Cancelled);
        QVERIFY(tuning_rows::bytesOf(readable) == before);
        QVERIFY(readCheckpoint(damaged, run.owner()).hasValue()); // it is replaced
    }
}

void ResumedTrainingTest::damagedCheckpointsGiveWayToTheGoodState() {
    TrainingRun run;
    run.checkpointMinutes = 0.0;
    killBehind(run, 11);
    QVERIFY_THROWS_EXCEPTION(Killed, (void)run.start());
    tuning_rows::damage(checkpointFile(run, "0"), 20);
    tuning_rows::damage(checkpointFile(run, "1"), 20);
    TrainingRun undisturbed;
    QVERIFY(endsLike(run, undisturbed));
    QCOMPARE(run.notes.size(), std::size_t{2});
    QCOMPARE(run.trainer->steps.size(), std::size_t{20});
}

void ResumedTrainingTest::withDamagedFilesAloneItDoesNotBeginAnew() {
    TrainingRun run;
    run.checkpointMinutes = 0.0;
    killBehind(run, 11);
    QVERIFY_THROWS_EXCEPTION(Killed, (void)run.start());
    for (const char* which : {"0", "1", "good"})
        tuning_rows::damage(checkpointFile(run, which), 20);
    const auto refused = run.start();
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::CorruptFile);
    QVERIFY(!refused.error().hint.empty());
    QVERIFY(run.trainer->steps.empty());
}

/// Where the weights of a model are trained, each takes a large part of the memory.
void ResumedTrainingTest::oneCheckpointAtATimeIsInMemory() {
    const test_support::TemporaryFolder folder;
    const CheckpointOwner owner = {"run", "rows"};
    Checkpoint large = someCheckpoint();
    large.trainer = {{"weights", std::vector<float>(2'000'000)}}; // 8 MB
    CheckpointFiles files(folder.path(), owner);
    for (const bool isGood : {true, false, false})
        QVERIFY(files.write(large, isGood).hasValue());
    CheckpointFiles again(folder.path(), owner);
    const test_support::PeakAllocation peak;
    const auto newest = again.newest({});
    QVERIFY(newest.hasValue() && newest.value().has_value());
    QVERIFY2(peak.bytes() < 12'000'000, qPrintable(QString::number(peak.bytes())));
    QCOMPARE(newest.value()->place.serial, large.place.serial);
}

void ResumedTrainingTest::whatACheckpointHoldsIsReadAgain() {
    const test_support::TemporaryFolder folder;
    const Checkpoint wanted = someCheckpoint();
    QVERIFY(writeCheckpoint(folder.path() / "a.bin", {"run", "rows"}, wanted).hasValue());
    const auto read = readCheckpoint(folder.path() / "a.bin", {"run", "rows"});
    QVERIFY2(read.hasValue(), read ? "" : read.error().message.c_str());
    const TrainingPlace& place = read.value().place;
    QCOMPARE(place.serial, std::int64_t{7});
    QCOMPARE(place.step, std::int64_t{41});
    QVERIFY(place.order == wanted.place.order);
    QVERIFY(place.schedule == wanted.place.schedule); // bit for bit
    QVERIFY(place.isFixed);
    QCOMPARE(place.minutes, 1.5);
    QCOMPARE(place.rateFactor, 0.25);
    QCOMPARE(place.failures, 2);
    QCOMPARE(place.evaluated, std::int64_t{40});
    QCOMPARE(place.worse, 3);
    QCOMPARE(place.goodStep, std::int64_t{0});
    QCOMPARE(place.seconds, 12.75);
    QVERIFY(place.best.has_value() && areSame(*place.best, *wanted.place.best));
    QVERIFY(read.value().trainer == wanted.trainer);
    QVERIFY(std::signbit(read.value().trainer.at("weights")[1]));
    QVERIFY(read.value().best == wanted.best);
}

void ResumedTrainingTest::foreignAndDamagedCheckpointsAreRefused() {
    const test_support::TemporaryFolder folder;
    const auto path = folder.path() / "a.bin";
    QVERIFY(writeCheckpoint(path, {"run", "rows"}, someCheckpoint()).hasValue());
    for (const CheckpointOwner& owner :
         {CheckpointOwner{"another", "rows"}, CheckpointOwner{"run", "others"}}) {
        const auto refused = readCheckpoint(path, owner);
        QVERIFY(!refused.hasValue());
        QCOMPARE(refused.error().code, ErrorCode::CorruptFile);
    }
    QCOMPARE(readCheckpoint(folder.path() / "b.bin", {"run", "rows"}).error().code,
             ErrorCode::NotFound);
    const std::string whole = tuning_rows::bytesOf(path);
    test_support::forEachFlip(whole, 200, 1, [&](const std::string& damaged, std::size_t) {
        const auto refused = readCheckpoint(folder.write("c.bin", damaged), {"run", "rows"});
        QVERIFY(!refused.hasValue());
        QCOMPARE(refused.error().code, ErrorCode::CorruptFile);
    });
}

QTEST_GUILESS_MAIN(ResumedTrainingTest)
#include "resumed_training_test.moc"
