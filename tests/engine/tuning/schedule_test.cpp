// SPDX-License-Identifier: Apache-2.0
// What decides the steps of a training, and the arithmetic of what drafts are worth.
#include "engine/tuning/training/evaluation.h"
#include "engine/tuning/training/schedule.h"
#include "engine/tuning/training/text_order.h"
#include "tests/engine/tuning/fake_trainer.h"
#include "tests/engine/tuning/tuning_rows.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <set>

using namespace engine;

namespace {

constexpr int kStepRows = 32;

/// Texts of 3 to 40 rows; some are longer than a step.
const std::vector<int>& textRows() {
    static const std::vector<int> rows = [] {
        std::vector<int> made;
        for (int i = 0; i < 23; ++i)
            made.push_back(3 + (i * 17) % 38);
        return made;
    }();
    return rows;
}

TextOrder someOrder(std::uint64_t seed = 1) { return {textRows(), kStepRows, seed}; }

/// The steps of one epoch, from its beginning on.
std::vector<std::vector<int>> epochOf(TextOrder& order) {
    const std::int64_t epoch = order.place().epoch;
    std::vector<std::vector<int>> steps;
    while (order.place().epoch == epoch)
        steps.push_back(order.next());
    return steps;
}

int rowsOf(const std::vector<int>& texts) {
    int rows = 0;
    for (const int text : texts)
        rows += textRows()[toSize(text)];
    return rows;
}

} // namespace

class ScheduleTest : public QObject {
    Q_OBJECT

private slots:
    void theRateRisesStaysAndFalls();
    void theLossOfStreamsIsGoneAtHalfTime();
    void theLossOfAcceptanceGrowsInTheLastQuarter();
    void anEarlyEndKeepsTheLengthOfTheLastQuarter();
    void theShortestSchedulesHaveRates();
    void everyTextComesOnceAnEpoch();
    void stepsAreAsFullAsWholeTextsAllow();
    void ordersDifferBetweenEpochsAndSeeds();
    void anOrderGoesOnExactlyWhereItIsMovedTo();
    void stepsAreCountedFromTheBeginning();
    void acceptanceIsTheShareOfHitsAtEachDepth();
    void aRoundGivesTheBonusAndWhatIsAccepted();
    void evaluationsSumUpTextsAndTasks();
    void textsAreChosenUntilThereAreEnoughRows();
    void aStopCancelsAnEvaluation();
};

void ScheduleTest::theRateRisesStaysAndFalls() {
    const Schedule schedule = makeSchedule(100, 2.0, 0.5);
    QCOMPARE(schedule.steps, std::int64_t{100});
    QCOMPARE(schedule.decayStart, std::int64_t{75});
    QCOMPARE(schedule.at(0).rate, 2.0 / 3.0);
    QCOMPARE(schedule.at(1).rate, 4.0 / 3.0);
    for (const std::int64_t step : {2, 3, 40, 74, 75})
        QCOMPARE(schedule.at(step).rate, 2.0);
    QCOMPARE(schedule.at(76).rate, 2.0 * 24.0 / 25.0);
    QCOMPARE(schedule.at(99).rate, 2.0 / 25.0);
}

void ScheduleTest::theLossOfStreamsIsGoneAtHalfTime() {
    const Schedule schedule = makeSchedule(100, 2.0, 0.5);
    QCOMPARE(schedule.at(0).streamLoss, 0.5);
    QCOMPARE(schedule.at(25).streamLoss, 0.25);
    QVERIFY(schedule.at(49).streamLoss > 0.0);
    for (const std::int64_t step : {50, 51, 99})
        QCOMPARE(schedule.at(step).streamLoss, 0.0);
}

void ScheduleTest::theLossOfAcceptanceGrowsInTheLastQuarter() {
    const Schedule schedule = makeSchedule(100, 2.0, 0.5);
    for (const std::int64_t step : {0, 50, 74, 75})
        QCOMPARE(schedule.at(step).overlap, 0.0);
    QCOMPARE(schedule.at(76).overlap, 1.0 / 25.0);
    QCOMPARE(schedule.at(99).overlap, 24.0 / 25.0);
}

void ScheduleTest::anEarlyEndKeepsTheLengthOfTheLastQuarter() {
    const Schedule schedule = makeSchedule(100, 2.0, 0.5);
    const Schedule ended = schedule.endedFrom(40);
    QCOMPARE(ended.steps, std::int64_t{65});
    QCOMPARE(ended.decayStart, std::int64_t{40});
    QCOMPARE(ended.planned, std::int64_t{100});
    QCOMPARE(ended.at(39).rate, 2.0);
    QCOMPARE(ended.at(40).rate, 2.0);
    QCOMPARE(ended.at(64).rate, schedule.at(99).rate);
    QCOMPARE(ended.at(64).overlap, schedule.at(99).overlap);
    QCOMPARE(ended.at(40).streamLoss, schedule.at(40).streamLoss);
    QVERIFY(schedule.endedFrom(75) == schedule);
    QVERIFY(schedule.endedFrom(90) == schedule);
    QVERIFY(ended.endedFrom(41) == ended);
}

void ScheduleTest::theShortestSchedulesHaveRates() {
    for (std::int64_t steps = 1; steps <= 8; ++steps) {
        const Schedule schedule = makeSchedule(steps, 2.0, 0.5);
        for (std::int64_t step = 0; step < steps; ++step) {
            const StepTerms terms = schedule.at(step);
            QVERIFY(terms.rate > 0.0 && terms.rate <= 2.0);
            QVERIFY(terms.streamLoss >= 0.0 && terms.streamLoss <= 0.5);
            QVERIFY(terms.overlap >= 0.0 && terms.overlap < 1.0);
        }
    }
}

void ScheduleTest::everyTextComesOnceAnEpoch() {
    TextOrder order = someOrder();
    for (int epoch = 0; epoch < 5; ++epoch) {
        QVERIFY(order.place() == (TextOrderPlace{epoch, 0}));
        std::vector<int> texts;
        for (const std::vector<int>& step : epochOf(order))
            texts.insert(texts.end(), step.begin(), step.end());
        QCOMPARE(texts.size(), textRows().size());
        QCOMPARE((std::set<int>(texts.begin(), texts.end()).size()), textRows().size());
    }
}

void ScheduleTest::stepsAreAsFullAsWholeTextsAllow() {
    TextOrder order = someOrder();
    const auto steps = epochOf(order);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        QVERIFY(!steps[i].empty());
        QVERIFY(rowsOf(steps[i]) <= kStepRows || steps[i].size() == 1);
        if (i + 1 < steps.size())
            QVERIFY(rowsOf(steps[i]) + textRows()[toSize(steps[i + 1].front())] > kStepRows);
    }
}

void ScheduleTest::ordersDifferBetweenEpochsAndSeeds() {
    TextOrder order = someOrder();
    TextOrder same = someOrder();
    TextOrder other = someOrder(2);
    std::set<std::vector<std::vector<int>>> seen;
    for (int epoch = 0; epoch < 4; ++epoch) {
        const auto steps = epochOf(order);
        QVERIFY(steps == epochOf(same));
        seen.insert(steps);
        seen.insert(epochOf(other));
    }
    QCOMPARE(seen.size(), std::size_t{8});
}

void ScheduleTest::anOrderGoesOnExactlyWhereItIsMovedTo() {
    std::vector<TextOrderPlace> places;
    std::vector<std::vector<int>> steps;
    TextOrder order = someOrder();
    for (int step = 0; step < 60; ++step) {
        places.push_back(order.place());
        steps.push_back(order.next());
    }
    QVERIFY(order.place().epoch >= 2);
    for (std::size_t from = 0; from < places.size(); from += 7) {
        TextOrder moved = someOrder();
        moved.next();
        moved.moveTo(places[from]);
        for (std::size_t step = from; step < steps.size(); ++step) {
            QVERIFY(moved.place() == places[step]);
            QCOMPARE(moved.next(), steps[step]);
        }
    }
}

void ScheduleTest::stepsAreCountedFromTheBeginning() {
    TextOrder order = someOrder();
    const std::int64_t steps = order.stepsOf(3);
    std::int64_t made = 0;
    for (; order.place().epoch < 3; ++made)
        order.next();
    QCOMPARE(steps, made);
    QCOMPARE(order.stepsOf(3), made); // wherever it stands
    QCOMPARE(order.stepsOf(0), std::int64_t{0});
    QCOMPARE(TextOrder({5}, kStepRows, 1).stepsOf(4), std::int64_t{4});
    QVERIFY_THROWS_EXCEPTION(EngineBug, TextOrder({}, kStepRows, 1));
}

void ScheduleTest::acceptanceIsTheShareOfHitsAtEachDepth() {
    const DraftHits hits = {{100, 50, 20, 0}, {50, 20, 5, 0}};
    const auto shares = acceptanceOf(hits);
    QCOMPARE(shares[0], 0.5);
    QCOMPARE(shares[1], 0.4);
    QCOMPARE(shares[2], 0.25);
    QCOMPARE(shares[3], 0.0);
}

void ScheduleTest::aRoundGivesTheBonusAndWhatIsAccepted() {
    const DraftHits hits = {{100, 50, 20, 4}, {50, 20, 5, 4}};
    QCOMPARE(tokensPerRound(hits, 0), 1.0);
    QCOMPARE(tokensPerRound(hits, 1), 1.5);
    QCOMPARE(tokensPerRound(hits, 2), 1.7);
    QCOMPARE(tokensPerRound(hits), 1.75);
    QCOMPARE(tokensPerRound(hits, 4), 1.8);
    QCOMPARE(tokensPerRound({}), 1.0);
    QCOMPARE(tokensPerRound({{7, 7, 7, 7}, {7, 7, 7, 7}}), 4.0);
}

void ScheduleTest::evaluationsSumUpTextsAndTasks() {
    const test_support::TemporaryFolder folder;
    const RowStore rows =
        tuning_rows::storeOf(folder.path(),
                             {{tuning_rows::someRows(9, 2, 1), RowSplit::Validation, "a"},
                              {tuning_rows::someRows(6, 5, 2), RowSplit::Validation, "b"},
                              {tuning_rows::someRows(4, 1, 3), RowSplit::Validation, "a"}});
    FakeTrainer trainer;
    trainer.score = [calls = 0](std::int64_t) mutable { return 100 + calls++; };
    const auto made =
        evaluateDrafts(trainer, rows, rows.texts(RowSplit::Validation), std::stop_token());
    QVERIFY2(made.hasValue(), made ? "" : made.error().message.c_str());
    const Evaluation& evaluation = made.value();
    QCOMPARE(evaluation.rows, std::int64_t{7 + 1 + 3});
    QCOMPARE(evaluation.all.tried[0], std::int64_t{3000});
    QCOMPARE(evaluation.all.hits[0], std::int64_t{100 + 101 + 102});
    QCOMPARE(evaluation.byTask.size(), std::size_t{2});
    QCOMPARE(evaluation.byTask.at("a").hits[0], std::int64_t{100 + 102});
    QCOMPARE(evaluation.byTask.at("b").hits[0], std::int64_t{101});
    QCOMPARE(evaluation.tokensPerRound(), tokensPerRound(evaluation.all));
}

void ScheduleTest::textsAreChosenUntilThereAreEnoughRows() {
    const test_support::TemporaryFolder folder;
    std::vector<tuning_rows::StoredText> texts;
    for (unsigned i = 0; i < 40; ++i)
        texts.push_back({tuning_rows::someRows(10, 2, i),
                         i % 2 == 0 ? RowSplit::Validation : RowSplit::Training});
    const RowStore rows = tuning_rows::storeOf(folder.path(), texts);
    const auto chosen = [&](int mostRows, std::uint64_t seed = 1) {
        std::vector<int> found;
        for (const TextPlace place : textsToEvaluate(rows, RowSplit::Validation, mostRows, seed))
            found.push_back(place.text);
        return found;
    };
    QCOMPARE(chosen(1).size(), std::size_t{1});
    QCOMPARE(chosen(30).size(), std::size_t{3});
    QCOMPARE(chosen(31).size(), std::size_t{4});
    const std::vector<int> all = chosen(1000);
    QCOMPARE((std::set<int>(all.begin(), all.end()).size()), std::size_t{20});
    for (const int text : all)
        QCOMPARE(text % 2, 0);
    QCOMPARE(chosen(1000), all);
    QVERIFY(chosen(1000, 2) != all);
    QVERIFY(textsToEvaluate(rows, RowSplit::Test, 1000, 1).empty());
}

void ScheduleTest::aStopCancelsAnEvaluation() {
    const test_support::TemporaryFolder folder;
    const RowStore rows =
        tuning_rows::storeOf(folder.path(),
                             {{tuning_rows::someRows(9, 2, 1), RowSplit::Validation},
                              {tuning_rows::someRows(6, 5, 2), RowSplit::Validation}});
    std::stop_source source;
    FakeTrainer trainer;
    int calls = 0;
    trainer.evaluating = [&] {
        ++calls;
        source.request_stop();
    };
    const auto made =
        evaluateDrafts(trainer, rows, rows.texts(RowSplit::Validation), source.get_token());
    QVERIFY(!made.hasValue());
    QCOMPARE(made.error().code, ErrorCode::Cancelled);
    QCOMPARE(calls, 1);
}

QTEST_GUILESS_MAIN(ScheduleTest)
#include "schedule_test.moc"
