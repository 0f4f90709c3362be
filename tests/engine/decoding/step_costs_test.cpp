// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/statistics/step_costs.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace engine;

namespace {

/// A machine where a pass of so many rows costs 1 + .1 a row beyond the first, 5 ms for one.
double truth(int rows) { return 1.0 + 0.1 * (rows - 1); }

} // namespace

class StepCostsTest : public QObject {
    Q_OBJECT

private slots:

    void beforeAnythingIsMeasuredARowMoreCostsLittle() {
        const StepCosts costs;
        QCOMPARE(costs.oneRowMs(), 0.0);
        QCOMPARE(costs.relativeCost(1), 1.0);
        QCOMPARE(costs.relativeCost(6), 1.0 + 5 * StepCosts::kFirstGuess);
    }

    void whatWasMeasuredIsKnownAndTheRestLiesBetween() {
        StepCosts costs;
        costs.record(1, 5.0);
        for (int i = 0; i < 60; ++i) {
            costs.record(1, 5.0);
            costs.record(4, 5.0 * truth(4));
            costs.record(8, 5.0 * truth(8));
        }
        QVERIFY(std::abs(costs.relativeCost(4) - truth(4)) < 0.02);
        QVERIFY(std::abs(costs.relativeCost(6) - truth(6)) < 0.02);
        QVERIFY(std::abs(costs.relativeCost(12) - truth(12)) < 0.05);
        QVERIFY(std::abs(costs.relativeCost(80) - truth(80)) < 0.8);
        QCOMPARE(costs.samples(8), 60);
        QCOMPARE(costs.samples(6), 0);
    }

    void aPassOfMoreRowsThanAreKeptTellsTheLineOfTheMost() {
        StepCosts costs;
        for (int i = 0; i < 60; ++i) {
            costs.record(1, 5.0);
            costs.record(129, 5.0 * truth(129));
        }
        QVERIFY(std::abs(costs.relativeCost(65) - truth(65)) < 0.1);
        QVERIFY(std::abs(costs.relativeCost(129) - truth(129)) < 0.2);
    }

    /// Neither tells anything of the other.
    void passesOfANetworkOfItsOwnHaveALineOfTheirOwn() {
        StepCosts costs;
        costs.record(1, 5.0);
        QCOMPARE(costs.relativeNetworkCost(0.1), 0.1);
        for (int i = 0; i < 40; ++i) {
            costs.recordNetwork(0.1, 5.0 * 0.25);
            costs.recordDraft(0.5, 5.0 * 0.6);
        }
        QVERIFY(std::abs(costs.relativeNetworkCost(0.1) - 0.25) < 1e-9);
        QVERIFY(std::abs(costs.relativeDraftCost(0.5) - 0.6) < 1e-9);
    }

    void noTimeAtAllTellsNothing() {
        StepCosts costs;
        costs.record(1, 5.0);
        costs.record(1, 0.0); // a clock that stands still after it stepped back
        costs.record(4, 0.0);
        costs.recordFirst(8, 0.0);
        costs.recordDraft(0.5, 0.0);
        costs.recordNetwork(0.5, 0.0);
        costs.recordResumed(0.5, 2, 0.0);
        QCOMPARE(costs.oneRowMs(), 5.0);
        QCOMPARE(costs.relativeCost(4), 1.0 + 3 * StepCosts::kFirstGuess);
        QCOMPARE(costs.samples(8), 0);
        QCOMPARE(costs.draftSamples() + costs.resumedSamples(), 0);
        QCOMPARE(costs.relativeNetworkCost(0.5), 0.5);
    }

    void aFirstPassOfSeveralRowsCalibratesOne() {
        StepCosts costs;
        costs.record(5, 10.0);
        QVERIFY(std::abs(costs.oneRowMs() - 10.0 / (1.0 + 4 * StepCosts::kFirstGuess)) < 1e-9);
        QVERIFY(std::abs(costs.relativeCost(5) - (1.0 + 4 * StepCosts::kFirstGuess)) < 1e-9);
    }

    void aMachineThatSlowsDownDoesNotMakeRowsDearer() {
        StepCosts costs;
        for (int i = 0; i < 60; ++i) {
            costs.record(1, 5.0);
            costs.record(8, 5.0 * truth(8));
        }
        // Nothing but passes of 8 rows while the machine is half as fast.
        for (int i = 0; i < 40; ++i)
            costs.record(8, 10.0 * truth(8));
        QVERIFY(std::abs(costs.oneRowMs() - 10.0) < 0.7);
        QVERIFY(std::abs(costs.relativeCost(8) - truth(8)) < 0.2);
        for (int i = 0; i < 20; ++i) {
            costs.record(1, 10.0);
            costs.record(8, 10.0 * truth(8));
        }
        QVERIFY(std::abs(costs.relativeCost(8) - truth(8)) < 0.06);
    }

    void rowsThatChangeTheirPriceAreToldFromAnotherSpeed_data() {
        QTest::addColumn<double>("before");
        QTest::addColumn<double>("now");
        QTest::newRow("dearer, as behind a long text") << 1.3 << 2.0;
        QTest::newRow("cheaper") << 2.0 << 1.3;
    }

    /// A plain pass now and then is enough: else a draft would be made for ever at the old price.
    /// Rows that are not used meanwhile follow the others.
    void rowsThatChangeTheirPriceAreToldFromAnotherSpeed() {
        QFETCH(double, before);
        QFETCH(double, now);
        StepCosts costs;
        for (int i = 0; i < 60; ++i)
            for (const int rows : {1, 4, 5, 6})
                costs.record(rows, rows == 1 ? 5.0 : 5.0 * before);
        for (int i = 0; i < 480; ++i) {
            const bool isPlain = i % 32 == 31;
            costs.record(isPlain ? 1 : 4 + i % 2, isPlain ? 5.0 : 5.0 * now);
        }
        for (const int rows : {4, 5, 6})
            QVERIFY(std::abs(costs.relativeCost(rows) - now) < 0.1);
        QVERIFY(std::abs(costs.oneRowMs() - 5.0) < 0.2);
    }

    void onePassThatLostItsCoreChangesLittle() {
        StepCosts costs;
        for (int i = 0; i < 60; ++i) {
            costs.record(1, 5.0);
            costs.record(8, 5.0 * truth(8));
        }
        costs.record(8, 500.0);
        QVERIFY(std::abs(costs.relativeCost(8) / truth(8) - 1.0) < 0.06);
        QVERIFY(costs.oneRowMs() < 6.5);
        for (int i = 0; i < 60; ++i)
            costs.record(8, 5.0 * truth(8));
        costs.record(1, 500.0); // a plain one, which is asked what the others cost
        QVERIFY(std::abs(costs.relativeCost(8) / truth(8) - 1.0) < 0.1);
        QVERIFY(costs.oneRowMs() < 6.5);
    }

    void aDraftPassCostsItsShareUntilOneIsMeasured() {
        StepCosts costs;
        costs.record(1, 5.0);
        QCOMPARE(costs.relativeDraftCost(1.0), 1.0);
        QCOMPARE(costs.relativeDraftCost(0.6), 0.6);
    }

    /// A head that costs more than its share, say, takes part of what a plan saves.
    void measuredDraftPassesTellWhatOtherPlansCost() {
        StepCosts costs;
        costs.record(1, 5.0);
        for (int i = 0; i < 100; ++i)
            costs.recordDraft(0.6, 5.0 * 0.8);
        QVERIFY(std::abs(costs.relativeDraftCost(0.6) - 0.8) < 0.01);
        QVERIFY(std::abs(costs.relativeDraftCost(0.8) - 0.9) < 0.01);
        QCOMPARE(costs.relativeDraftCost(1.0), 1.0);
    }

    /// What the first pass then takes is believed at once.
    void forgottenDraftPassesCostTheirShareAgain() {
        StepCosts costs;
        costs.record(1, 5.0);
        for (int i = 0; i < 20; ++i)
            costs.recordDraft(0.6, 4.5);
        costs.forgetDrafts();
        QCOMPARE(costs.draftSamples(), 0);
        QCOMPARE(costs.relativeDraftCost(0.3), 0.3);
        costs.recordDraft(0.3, 2.0);
        QVERIFY(std::abs(costs.relativeDraftCost(0.3) - 0.4) < 1e-9);
    }

    void aResumedPassCostsWhatItReadsUntilOneIsMeasured() {
        StepCosts costs;
        costs.record(1, 5.0);
        costs.recordFirst(4, 10.0);
        QCOMPARE(costs.relativeResumedCost(1.0, 4), costs.relativeCost(4));
        QCOMPARE(costs.relativeResumedCost(0.6, 4), 0.6 * 2.0);
        for (int i = 0; i < 100; ++i)
            costs.recordDraft(0.6, 5.0 * 0.8); // the nearest that is known
        QVERIFY(std::abs(costs.relativeResumedCost(0.6, 4) - 0.8 * 2.0) < 0.02);
        QCOMPARE(costs.resumedSamples(), 0);
    }

    void measuredResumedPassesTellTheirOwnPrice() {
        StepCosts costs;
        costs.record(1, 5.0);
        costs.recordFirst(4, 10.0);
        for (int i = 0; i < 100; ++i) {
            costs.record(1, 5.0);
            costs.recordDraft(0.6, 5.0 * 0.8);
            costs.recordResumed(0.6, 4, 10.0 * 0.7);
        }
        QCOMPARE(costs.resumedSamples(), 100);
        QVERIFY(std::abs(costs.relativeResumedCost(0.6, 4) - 0.7 * 2.0) < 0.02);
        QVERIFY(std::abs(costs.relativeResumedCost(0.8, 1) - 0.85) < 0.02);
        QVERIFY(std::abs(costs.relativeDraftCost(0.6) - 0.8) < 0.02);
        QCOMPARE(costs.relativeResumedCost(1.0, 4), costs.relativeCost(4));
    }

    void resumedPassesAloneTellThatTheMachineSlowsDown() {
        StepCosts costs;
        costs.recordResumed(0.6, 4, 3.0); // before anything is known of a plain step
        QCOMPARE(costs.resumedSamples(), 0);
        for (int i = 0; i < 30; ++i) {
            costs.record(1, 5.0);
            costs.record(4, 5.0 * truth(4));
            costs.recordResumed(0.6, 4, 5.0 * truth(4) * 0.6);
        }
        for (int i = 0; i < 60; ++i)
            costs.recordResumed(0.6, 4, 10.0 * truth(4) * 0.6);
        QVERIFY(std::abs(costs.oneRowMs() - 10.0) < 1.5);
        QVERIFY(std::abs(costs.relativeResumedCost(0.6, 4) - truth(4) * 0.6) < 0.15);
    }

    void aFirstMeasurementIsTakenAtItsWordOnce() {
        StepCosts costs;
        costs.recordFirst(4, 100.0); // relative to what?
        QCOMPARE(costs.samples(4), 0);
        costs.record(1, 5.0);
        costs.recordFirst(4, 15.0);
        QCOMPARE(costs.relativeCost(4), 3.0);
        costs.recordFirst(4, 50.0);
        QCOMPARE(costs.relativeCost(4), 3.0);
        QCOMPARE(costs.oneRowMs(), 5.0);
    }

    void aPlanThatSavesNothingOrMadeUpTimesDoNoHarm() {
        StepCosts costs;
        costs.recordDraft(0.5, 1.0); // before anything is known of a plain step
        costs.record(1, 5.0);
        costs.recordDraft(0.99, 50.0);
        QCOMPARE(costs.relativeDraftCost(0.5), 0.5);
        for (int i = 0; i < 100; ++i)
            costs.recordDraft(0.5, 0.0);
        QVERIFY(costs.relativeDraftCost(0.5) >= 0.25);
        for (int i = 0; i < 200; ++i)
            costs.recordDraft(0.5, 15.0);
        QVERIFY(costs.relativeDraftCost(0.5) > 1.5); // dearer than a plain step, and known to be
    }

    void untilRowsHaveAPriceADraftIsAsWideAsUsual() {
        StepCosts costs;
        QCOMPARE(nodesWorth(costs, 0.9, 7, 64), 7);
        QCOMPARE(nodesWorth(costs, 0.9, 32, 16), 16);
        for (int i = 0; i < 9; ++i)
            costs.record(4, 5.0); // without a plain pass beside it
        QCOMPARE(nodesWorth(costs, 0.9, 7, 64), 7);
        StepCosts plain;
        for (int i = 0; i < 9; ++i)
            plain.record(1, 5.0);
        plain.record(4, 5.0);
        QCOMPARE(nodesWorth(plain, 0.9, 7, 64), 7);
    }

    /// Here a row costs a tenth of a plain step.
    void allRowsOfADraftCostAsMuchAsItsFirstNodeGives() {
        StepCosts costs;
        for (int i = 0; i < 60; ++i)
            for (const int rows : {1, 4, 8})
                costs.record(rows, 5.0 * truth(rows));
        QCOMPARE(nodesWorth(costs, 0.45, 7, 64), 4);
        QCOMPARE(nodesWorth(costs, 0.95, 7, 64), 9);
        QCOMPARE(nodesWorth(costs, 0.95, 7, 6), 6);
        QCOMPARE(nodesWorth(costs, 0.02, 7, 64), 1);
    }

    void whereRowsAreFreeADraftGrowsStepByStep() {
        StepCosts costs;
        for (int i = 0; i < 20; ++i)
            for (const int rows : {1, 4})
                costs.record(rows, 5.0);
        QCOMPARE(nodesWorth(costs, 0.5, 7, 64), 12);
        QCOMPARE(nodesWorth(costs, 0.5, 7, 10), 10);
        QCOMPARE(nodesWorth(costs, 0.5, 32, 64), 32);
        for (int i = 0; i < 20; ++i)
            costs.record(13, 5.0);
        QCOMPARE(nodesWorth(costs, 0.5, 7, 64), 48);
    }

    void noiseOfAFifthLeavesCostsWithinAFewPercent() {
        StepCosts costs;
        std::mt19937 random(3);
        std::normal_distribution<double> noise(0.0, 0.2);
        for (int i = 0; i < 400; ++i)
            for (const int rows : {1, 2, 4, 8})
                costs.record(rows, 5.0 * truth(rows) * std::exp(noise(random)));
        for (const int rows : {2, 4, 8})
            QVERIFY(std::abs(costs.relativeCost(rows) / truth(rows) - 1.0) < 0.15);
    }
};

QTEST_GUILESS_MAIN(StepCostsTest)
#include "step_costs_test.moc"
