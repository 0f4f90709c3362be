// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/draft_stop_rule.h"

#include <QTest>

#include <cmath>

using namespace engine;

namespace {

bool isNear(double a, double b) { return std::abs(a - b) < 1e-12; }

} // namespace

class DraftStopRuleTest : public QObject {
    Q_OBJECT

private slots:
    void aFixedRuleStopsBelowItsThresholdOrAtItsLength();
    void noThresholdMeansLengthAlone();
    void theThresholdFollowsThePublishedSequence();
    void fullyAcceptedFullDraftsLeaveTheThreshold();
    void poorAcceptanceRaisesTheThresholdToOneAtMost();
    void goodAcceptanceLowersTheThresholdToZeroAtMost();
    void anUnusedDraftTeachesNothing();
    void aRuleThatDoesNotAdaptKeepsItsThreshold();
    void aNewAnswerForgetsAcceptanceButKeepsTheThreshold();
};

void DraftStopRuleTest::aFixedRuleStopsBelowItsThresholdOrAtItsLength() {
    const ConfidenceStopRule rule(0.8, 5);
    QVERIFY(rule.stopsAfter(0.79, 1));
    QVERIFY(!rule.stopsAfter(0.8, 1)); // the threshold itself is sure enough
    QVERIFY(!rule.stopsAfter(1.0, 4));
    QVERIFY(rule.stopsAfter(1.0, 5));
}

void DraftStopRuleTest::noThresholdMeansLengthAlone() {
    const ConfidenceStopRule rule(0.0, 3);
    QVERIFY(!rule.stopsAfter(0.0, 2));
    QVERIFY(rule.stopsAfter(0.0, 3));
}

void DraftStopRuleTest::theThresholdFollowsThePublishedSequence() {
    AdaptiveStopRule rule({.threshold = 0.6});
    const double thresholds[] = {0.601, 0.602, 0.603, 0.602};
    const double acceptances[] = {0.5, 0.75, 0.875, 0.9375};
    for (int round = 0; round < 4; ++round) {
        rule.learn(4, 4);
        QVERIFY(isNear(rule.threshold(), thresholds[round]));
        QVERIFY(isNear(rule.acceptance(), acceptances[round]));
    }
    QVERIFY(rule.stopsAfter(0.6019, 1));
    QVERIFY(!rule.stopsAfter(0.6021, 1));
}

void DraftStopRuleTest::fullyAcceptedFullDraftsLeaveTheThreshold() {
    AdaptiveStopRule rule({.threshold = 0.6, .maxSteps = 4});
    for (int round = 0; round < 4; ++round)
        rule.learn(4, 4); // three raise it, as mu starts at 0
    const double raised = rule.threshold();
    QVERIFY(isNear(raised, 0.603));
    rule.learn(4, 4);
    QVERIFY(isNear(rule.threshold(), raised));
}

void DraftStopRuleTest::poorAcceptanceRaisesTheThresholdToOneAtMost() {
    AdaptiveStopRule rule({.threshold = 0.9985});
    rule.learn(0, 3);
    QVERIFY(isNear(rule.threshold(), 0.9995));
    for (int round = 0; round < 5; ++round)
        rule.learn(0, 3);
    QCOMPARE(rule.threshold(), 1.0);
}

void DraftStopRuleTest::goodAcceptanceLowersTheThresholdToZeroAtMost() {
    AdaptiveStopRule rule({.threshold = 0.0015, .targetAcceptance = 0.4});
    rule.learn(3, 3);
    QVERIFY(isNear(rule.threshold(), 0.0005));
    for (int round = 0; round < 5; ++round)
        rule.learn(3, 3);
    QCOMPARE(rule.threshold(), 0.0);
}

void DraftStopRuleTest::anUnusedDraftTeachesNothing() {
    AdaptiveStopRule rule({.threshold = 0.6});
    rule.learn(0, 0);
    QCOMPARE(rule.threshold(), 0.6);
    QCOMPARE(rule.acceptance(), 0.0);
}

void DraftStopRuleTest::aRuleThatDoesNotAdaptKeepsItsThreshold() {
    AdaptiveStopRule rule({.threshold = 0.7, .maxSteps = 8, .adapts = false});
    for (int round = 0; round < 10; ++round)
        rule.learn(round % 3, 3);
    QCOMPARE(rule.threshold(), 0.7);
    QVERIFY(rule.stopsAfter(0.69, 1));
    QVERIFY(rule.stopsAfter(1.0, 8));
    QVERIFY(!rule.stopsAfter(1.0, 7));
}

void DraftStopRuleTest::aNewAnswerForgetsAcceptanceButKeepsTheThreshold() {
    AdaptiveStopRule rule({.threshold = 0.6});
    rule.learn(4, 4);
    rule.beginAnswer();
    QVERIFY(isNear(rule.threshold(), 0.601));
    QCOMPARE(rule.acceptance(), 0.0);
}

QTEST_APPLESS_MAIN(DraftStopRuleTest)

#include "draft_stop_rule_test.moc"
