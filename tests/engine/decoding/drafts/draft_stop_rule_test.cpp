// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/drafts/draft_stop_rule.h"

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
    void aRuleTellsWhatItsStopHangsOn();
    void noThresholdMeansLengthAlone();
    void theThresholdFollowsThePublishedSequence();
    void fullyAcceptedFullDraftsLeaveTheThreshold();
    void poorAcceptanceRaisesTheThresholdToOneAtMost();
    void goodAcceptanceLowersTheThresholdToZeroAtMost();
    void anUnusedDraftTeachesNothing();
    void aRuleThatDoesNotAdaptKeepsItsThreshold();
    void aNewAnswerForgetsAcceptanceButKeepsTheThreshold();
    void cumulativeAcceptanceFollowsTheAnswerSoFar();
    void cumulativeAcceptanceGoesOnFromAnswerToAnswer();
    void fullDraftsLowerTheThresholdOfCumulativeAcceptance();
    void anotherMeaningOfAcceptanceStartsAnew();
};

void DraftStopRuleTest::aFixedRuleStopsBelowItsThresholdOrAtItsLength() {
    const ConfidenceStopRule rule(0.8, 5);
    QVERIFY(rule.stopsAfter(0.79, 1));
    QVERIFY(!rule.stopsAfter(0.8, 1)); // the threshold itself is sure enough
    QVERIFY(!rule.stopsAfter(1.0, 4));
    QVERIFY(rule.stopsAfter(1.0, 5));
}

void DraftStopRuleTest::aRuleTellsWhatItsStopHangsOn() {
    const ConfidenceStopRule fixed(0.8, 5);
    QVERIFY(fixed.stopsAfter(0.79, 5) == (DraftEnd{DraftEndReason::Unsure, 0.79, 0.8}));
    QVERIFY(fixed.stopsAfter(0.8, 5) == (DraftEnd{DraftEndReason::Length, 0.0, 5.0}));
    AdaptiveStopRule adaptive({.threshold = 0.6, .maxSteps = 4});
    adaptive.learn(0, 4);
    const double moved = adaptive.threshold();
    QVERIFY(moved > 0.6);
    QVERIFY(adaptive.stopsAfter(0.6, 1) == (DraftEnd{DraftEndReason::Unsure, 0.6, moved}));
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

/// By hand: accepted/drafted 1/4, 4/4, 4/4, 0/2 are 1/4, 5/8, 9/12, 9/14 of the answer so far.
void DraftStopRuleTest::cumulativeAcceptanceFollowsTheAnswerSoFar() {
    AdaptiveStopRule rule({.threshold = 0.6,
                           .maxSteps = 18,
                           .targetAcceptance = 0.5,
                           .acceptance = AcceptanceMeaning::Cumulative});
    const std::pair<int, int> rounds[] = {{1, 4}, {4, 4}, {4, 4}, {0, 2}};
    // The first as it is; then halves: (1/4 + 5/8) / 2 = 7/16, (7/16 + 3/4) / 2 = 19/32, ...
    const double acceptances[] = {0.25, 7.0 / 16, 19.0 / 32, (19.0 / 32 + 9.0 / 14) / 2};
    const double thresholds[] = {0.601, 0.602, 0.601, 0.6};
    for (std::size_t round = 0; round < 4; ++round) {
        rule.learn(rounds[round].first, rounds[round].second);
        QVERIFY(isNear(rule.acceptance(), acceptances[round]));
        QVERIFY(isNear(rule.threshold(), thresholds[round]));
    }
}

void DraftStopRuleTest::cumulativeAcceptanceGoesOnFromAnswerToAnswer() {
    AdaptiveStopRule rule(
        {.threshold = 0.6, .targetAcceptance = 0.8, .acceptance = AcceptanceMeaning::Cumulative});
    rule.learn(4, 4);
    QVERIFY(isNear(rule.acceptance(), 1.0));
    QVERIFY(isNear(rule.threshold(), 0.599));
    rule.beginAnswer();
    QVERIFY(isNear(rule.acceptance(), 1.0));
    rule.learn(0, 4); // 0 of this answer's 4: what the answer before accepted does not count
    QVERIFY(isNear(rule.acceptance(), 0.5));
    QVERIFY(isNear(rule.threshold(), 0.6));
}

void DraftStopRuleTest::fullDraftsLowerTheThresholdOfCumulativeAcceptance() {
    AdaptiveStopRule rule(
        {.threshold = 0.6, .maxSteps = 4, .acceptance = AcceptanceMeaning::Cumulative});
    rule.learn(4, 4);
    QVERIFY(isNear(rule.threshold(), 0.599));
}

void DraftStopRuleTest::anotherMeaningOfAcceptanceStartsAnew() {
    AdaptiveThresholdOptions options{.threshold = 0.6};
    AdaptiveStopRule rule(options);
    rule.learn(2, 4);
    QVERIFY(isNear(rule.acceptance(), 0.25));
    options.acceptance = AcceptanceMeaning::Cumulative;
    rule.adopt(options);
    QCOMPARE(rule.acceptance(), 0.0);
    rule.learn(4, 4); // with the 2 of 4 before: the answer is the same
    QVERIFY(isNear(rule.acceptance(), 0.75));
    QVERIFY(isNear(rule.threshold(), 0.602));
}

QTEST_APPLESS_MAIN(DraftStopRuleTest)

#include "draft_stop_rule_test.moc"
