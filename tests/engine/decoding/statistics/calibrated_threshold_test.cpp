// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/statistics/calibrated_threshold.h"

#include <QTest>

using namespace engine;

namespace {

/// A round that drafted a chain of tokens of this confidence and had so many of them accepted.
DecodeStep roundOf(double confidence, int drafted, int accepted, std::uint64_t planId = 1) {
    DecodeStep step;
    step.planId = planId;
    for (int i = 0; i < drafted; ++i) {
        step.draft.add(i, i - 1, confidence);
        step.draft.addConfidence(confidence);
        if (i < accepted)
            step.path.push_back(i);
    }
    return step;
}

CalibratedThreshold after(double confidence, int rounds, int accepted) {
    CalibratedThreshold threshold;
    for (int i = 0; i < rounds; ++i)
        threshold.observe(roundOf(confidence, 1, accepted));
    return threshold;
}

} // namespace

class CalibratedThresholdTest : public QObject {
    Q_OBJECT

private slots:

    void nothingSeenLeavesEpsilon() {
        for (const double epsilon : {0.0, 0.3, 0.5, 0.8, 1.0})
            QCOMPARE(CalibratedThreshold().below(epsilon), epsilon);
    }

    void acceptedTokensLowerItToTheirConfidence() {
        QCOMPARE(after(0.7, 20, 1).below(0.8), 0.6);
        QCOMPARE(after(0.7, 20, 1).below(0.7), 0.6);
    }

    void refusedTokensLeaveIt() { QCOMPARE(after(0.7, 20, 0).below(0.8), 0.8); }

    /// Tokens of confidence .5 are accepted, but those of .7 were never seen.
    void itNeverJumpsOverConfidencesThatWereNotSeen() {
        QCOMPARE(after(0.5, 20, 1).below(0.8), 0.8);
    }

    void itGoesDownToNothingWhereEveryTokenIsAccepted() {
        CalibratedThreshold threshold;
        for (const double confidence : {0.7, 0.5, 0.3, 0.1})
            for (int i = 0; i < 20; ++i)
                threshold.observe(roundOf(confidence, 1, 1));
        QCOMPARE(threshold.below(0.8), 0.0);
    }

    void aFewRefusalsRaiseItAgain() {
        CalibratedThreshold threshold = after(0.7, 200, 1);
        for (int i = 0; i < 30; ++i)
            threshold.observe(roundOf(0.7, 1, 0));
        QCOMPARE(threshold.below(0.8), 0.8);
    }

    /// What stands behind a refused token was never compared with the full model.
    void tokensBehindARefusedOneCountForNothing() {
        CalibratedThreshold threshold;
        for (int i = 0; i < 20; ++i) {
            DecodeStep step = roundOf(0.9, 1, 0);
            step.draft.add(1, 0, 0.7);
            step.draft.addConfidence(0.7);
            threshold.observe(step);
        }
        for (int i = 0; i < 20; ++i)
            threshold.observe(roundOf(0.7, 1, 1));
        QCOMPARE(threshold.below(0.8), 0.6);
    }

    void aSiblingThatWasAcceptedDoesNotSpeakForTheFirstChoice() {
        CalibratedThreshold threshold;
        for (int i = 0; i < 20; ++i) {
            DecodeStep step = roundOf(0.7, 1, 0);
            step.path = {step.draft.add(9, -1, 0.2)};
            threshold.observe(step);
        }
        QCOMPARE(threshold.below(0.8), 0.8);
    }

    void stepsWithoutASkippingDraftChangeNothing() {
        CalibratedThreshold threshold = after(0.7, 20, 1);
        threshold.observe(DecodeStep());
        threshold.observe(roundOf(0.7, 1, 0, 0));
        QCOMPARE(threshold.below(0.8), 0.6);
    }
};

QTEST_GUILESS_MAIN(CalibratedThresholdTest)
#include "calibrated_threshold_test.moc"
