// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/drafts/draft_worth.h"

#include <QTest>

using namespace engine;

namespace {

constexpr double kPlainMs = 10.0;
constexpr double kShare = 0.5;

/// Measured often enough to be believed: a further row costs `rowPart` of a plain step, a draft
/// pass `draftPart`, and four rows `dearer` more.
StepCosts costsOf(double rowPart, double draftPart, double dearer = 0.0) {
    StepCosts costs;
    for (int i = 0; i < 100; ++i) {
        for (int rows = 1; rows <= 12; ++rows)
            costs.record(rows,
                         kPlainMs * (1.0 + rowPart * (rows - 1) + (rows == 4 ? dearer : 0.0)));
        costs.record(1, kPlainMs);
        costs.recordDraft(kShare, kPlainMs * draftPart);
    }
    return costs;
}

/// A round that drafted a chain and had so many of its tokens accepted.
DecodeStep roundOf(int drafted, int accepted, double confidence, std::uint64_t planId = 1) {
    DecodeStep step;
    step.planId = planId;
    for (int i = 0; i < drafted; ++i) {
        step.draft.add(i, i - 1, confidence);
        step.draft.addConfidence(confidence);
        if (i < accepted)
            step.path.push_back(i);
    }
    step.tokens.resize(step.path.size() + 1);
    step.verifiedRows = drafted + 1;
    return step;
}

DraftWorth after(int rounds, int drafted, int accepted, const StepCosts& costs) {
    DraftWorth worth;
    for (int i = 0; i < rounds; ++i)
        worth.observe(roundOf(drafted, accepted, 0.9), kShare, costs);
    return worth;
}

/// For drafts of at most 25 passes that end by their price alone.
WeighedStopRule ruleOf(const DraftWorth& worth, const StepCosts& costs) {
    WeighedStopRule rule(0.0, 25);
    rule.weigh(worth.rates(), worth.rate(), {.draft = kShare}, costs);
    return rule;
}

/// How long a draft becomes whose passes are all so sure.
int lengthOf(const DraftStopRule& rule, double confidence) {
    for (int steps = 1;; ++steps) {
        rule.choicesWorth(confidence, 1);
        if (rule.stopsAfter(confidence, steps))
            return steps;
    }
}

} // namespace

class DraftWorthTest : public QObject {
    Q_OBJECT

private slots:

    void withoutWeighingThresholdAndLengthEndADraft() {
        QCOMPARE(lengthOf(WeighedStopRule(0.8, 7), 0.9), 7);
        QCOMPARE(lengthOf(WeighedStopRule(0.8, 7), 0.7), 1);
        QCOMPARE(WeighedStopRule(0.8, 7).choicesWorth(0.3, 10), 10);
    }

    void theRateIsTokensForTheTimeOfAPlainStep() {
        const StepCosts costs = costsOf(0.1, 0.4);
        const DraftWorth worth = after(300, 3, 3, costs); // 4 tokens for 3 * .4 + 1.3
        QVERIFY2(std::abs(worth.rate() - 4.0 / 2.5) < 0.03,
                 qPrintable(QString::number(worth.rate())));
        QVERIFY(worth.rates().overall() > 0.95);
    }

    /// Every token is accepted, and a pass with its row costs less than a token is worth.
    void cheapPassesOfAGoodSetMakeTheLongestDrafts() {
        const StepCosts costs = costsOf(0.02, 0.4);
        const DraftWorth worth = after(300, 6, 6, costs);
        QVERIFY(lengthOf(ruleOf(worth, costs), 0.9) > 12);
    }

    void dearPassesEndADraftBehindTheFirst() {
        const StepCosts costs = costsOf(0.3, 0.9);
        const DraftWorth worth = after(300, 1, 1, costs); // 2 tokens for 2.2
        QCOMPARE(lengthOf(ruleOf(worth, costs), 0.9), 1);
        const WeighedStopRule asked = ruleOf(worth, costs);
        asked.choicesWorth(0.9, 1);
        const auto end = asked.stopsAfter(0.9, 1);
        QVERIFY(end.has_value() && end->reason == DraftEndReason::Price);
        QVERIFY(end->value < end->limit);
    }

    /// A chain is worth less the less likely it is that all of it is accepted.
    void aSetThatIsOftenWrongDraftsShorterThanAGoodOne() {
        const StepCosts costs = costsOf(0.05, 0.5);
        const DraftWorth good = after(300, 4, 4, costs);
        const DraftWorth bad = after(300, 4, 1, costs);
        const int longer = lengthOf(ruleOf(good, costs), 0.9);
        const int shorter = lengthOf(ruleOf(bad, costs), 0.9);
        QVERIFY2(shorter < longer, qPrintable(QString("%1, %2").arg(shorter).arg(longer)));
    }

    /// A number of rows that was measured in a bad moment must not end every draft before it, or it
    /// is never measured again.
    void aDearRowDoesNotEndADraftWhereTheNextOnesMakeUpForIt() {
        const StepCosts costs = costsOf(0.05, 0.4, 0.4);
        QVERIFY(costs.relativeCost(4) > 1.4);
        const DraftWorth worth = after(300, 6, 6, costs);
        QVERIFY(lengthOf(ruleOf(worth, costs), 0.9) > 6);
    }

    void aThresholdThatWasLearntGoesOnWithTheNextPlan() {
        const StepCosts costs = costsOf(0.1, 0.4);
        DraftWorth worth;
        for (int i = 0; i < 40; ++i)
            worth.observe(roundOf(1, 1, 0.5), kShare, costs);
        QCOMPARE(worth.thresholdBelow(0.6), 0.4);
        QCOMPARE(DraftWorth(0.9, worth).thresholdBelow(0.6), 0.4);
        QCOMPARE(DraftWorth(0.9, worth).rates().overall(), 0.9);
        QCOMPARE(DraftWorth(0.9).thresholdBelow(0.6), 0.6);
    }

    void siblingsAreKeptAsFarAsTheirRowsAreWorthIt() {
        const StepCosts cheap = costsOf(0.001, 0.5);
        const StepCosts dear = costsOf(0.4, 0.5);
        for (const bool isDear : {false, true}) {
            const StepCosts& costs = isDear ? dear : cheap;
            const DraftWorth worth = after(300, 1, 0, costs); // the first choice is wrong
            const int kept = ruleOf(worth, costs).choicesWorth(0.9, 5);
            QVERIFY2(isDear ? kept <= 3 : kept == 5, qPrintable(QString::number(kept)));
        }
    }

    /// What a first choice misses, its siblings often miss, too, where the draft is another model.
    void siblingsThatAreNeverRightAreGivenUp() {
        const StepCosts costs = costsOf(0.1, 0.5);
        const auto kept = [&](bool isSiblingRight) {
            DraftWorth worth;
            for (int i = 0; i < 60; ++i) {
                DecodeStep step = roundOf(2, 1, 0.9);
                const int sibling = step.draft.add(7, 0, 0.05); // beside the refused token
                if (isSiblingRight)
                    step.path.push_back(sibling);
                step.tokens.resize(step.path.size() + 1);
                ++step.verifiedRows;
                worth.observe(step, kShare, costs);
            }
            return ruleOf(worth, costs).choicesWorth(0.9, 2);
        };
        QCOMPARE(kept(true), 2);
        QCOMPARE(kept(false), 1);
    }

    void whereTheFirstChoiceIsAlwaysRightNoSiblingIsKept() {
        const StepCosts costs = costsOf(0.1, 0.5);
        const DraftWorth worth = after(300, 3, 3, costs);
        QCOMPARE(ruleOf(worth, costs).choicesWorth(0.9, 10), 1);
    }

    void matchnessIsBelievedUntilRoundsAreSeen() {
        const StepCosts costs = costsOf(0.05, 0.5);
        const DraftWorth good(1.0);
        const DraftWorth bad(0.2);
        QCOMPARE(good.rates().overall(), 1.0);
        QCOMPARE(bad.rates().overall(), 0.2);
        QVERIFY(good.rates().at(0.9) > good.rates().at(0.1));
        QVERIFY(good.rates().at(0.1) > bad.rates().at(0.1));
        const auto first = [&](const DraftWorth& worth) {
            return lengthOf(ruleOf(worth, costs), 0.9);
        };
        QCOMPARE(first(bad), 1);
        QVERIFY2(first(good) > 3, qPrintable(QString::number(first(good))));
    }

    void roundsWithoutADraftChangeNothing() {
        const StepCosts costs = costsOf(0.1, 0.5);
        DraftWorth worth = after(20, 3, 2, costs);
        const double rate = worth.rate();
        const double acceptance = worth.rates().overall();
        worth.observe(roundOf(0, 0, 0.0), kShare, costs);
        worth.observe(roundOf(3, 3, 0.9, 0), kShare, costs); // drafted by look-up
        QCOMPARE(worth.rate(), rate);
        QCOMPARE(worth.rates().overall(), acceptance);
    }
};

QTEST_GUILESS_MAIN(DraftWorthTest)
#include "draft_worth_test.moc"
