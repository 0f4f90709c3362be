// SPDX-License-Identifier: Apache-2.0
// Equation 6 of arXiv 2410.06916 beside a measured speedup.
#include "engine/metrics/equation_six.h"

#include <QTest>

#include <cmath>

using namespace engine;

namespace {

/// Ten rounds on a model of 40 layers, each draft pass with 34 of the 76 inner sublayers left out.
DecodeMetrics someRun() {
    DecodeMetrics sums;
    sums.rounds = 10;
    sums.tokens = 40; // M = 4
    sums.accepted = 30;
    sums.draftSteps = 40;
    sums.draftLayers = 40 * (40.0 - 34.0 / 2.0);
    sums.draftMs = 40 * 6.0;
    return sums;
}

bool isNear(double a, double b) { return std::abs(a - b) < 1e-9; }

} // namespace

class EquationSixTest : public QObject {
    Q_OBJECT

private slots:
    void theErrorIsMeasuredAgainstTheSpeedup();
    void theRatioIsTheShareOfTheLayersThatMayBeSkipped();
    void theCostIsADraftPassInPlainSteps();
    void aRunWithoutDraftPassesHasNone();
    void draftsThatLeaveNoLayersOutHaveNoRatio();
};

/// M a / ((M - 1) c + a) = 4 * .75 / (3 * .55 + .75) = 1.25.
void EquationSixTest::theErrorIsMeasuredAgainstTheSpeedup() {
    const auto found = EquationSix::of(someRun(), 0.55, 1.0);
    QVERIFY(found);
    QVERIFY(isNear(found->expected, 1.25) && isNear(found->error, 0.25));
    QVERIFY(isNear(found->draftCost, 0.55));
    QVERIFY(isNear(EquationSix::of(someRun(), 0.55, 2.5)->error, -0.5));
}

void EquationSixTest::theRatioIsTheShareOfTheLayersThatMayBeSkipped() {
    QVERIFY(isNear(draftRatio(someRun(), 40.0, 2).value(), 34.0 / 76.0));
    QVERIFY(isNear(draftRatio(someRun(), 40.0, 0).value(), 34.0 / 80.0));
}

void EquationSixTest::theCostIsADraftPassInPlainSteps() {
    QVERIFY(isNear(draftCost(someRun(), 10.0).value(), 0.6));
    QVERIFY(!draftCost(someRun(), 0.0));
}

void EquationSixTest::aRunWithoutDraftPassesHasNone() {
    DecodeMetrics sums;
    QVERIFY(!draftRatio(sums, 40.0, 2) && !draftCost(sums, 10.0));
    QVERIFY(!EquationSix::of(sums, 0.5, 1.0));
    QVERIFY(!EquationSix::of(someRun(), 0.5, 0.0)); // nothing was measured
}

/// Others may need no pass, or not the model: then fewer layers than the locked ones may have run.
void EquationSixTest::draftsThatLeaveNoLayersOutHaveNoRatio() {
    QVERIFY(!draftRatio(someRun(), 40.0, std::nullopt));
    DecodeMetrics mixed = someRun();
    mixed.draftLayers = 1.9 * static_cast<double>(mixed.draftSteps);
    QVERIFY(!draftRatio(mixed, 40.0, 2));
    mixed.draftLayers = 0.0;
    QVERIFY(!draftRatio(mixed, 40.0, 0));
}

QTEST_GUILESS_MAIN(EquationSixTest)
#include "equation_six_test.moc"
