// SPDX-License-Identifier: Apache-2.0
#include "engine/metrics/decode_metrics.h"
#include "tests/support/golden_tensors.h"

#include <QTest>

#include <cmath>

using namespace engine;

namespace {

/// A round of `draftSteps` draft passes, each with `siblings` further choices, of which the first
/// `accepted` of the spine are taken.
DecodeStep draftedRound(int draftSteps, int accepted, int siblings = 0) {
    DecodeStep step;
    int parent = -1;
    for (int depth = 0; depth < draftSteps; ++depth) {
        const int spine = step.draft.add(10 + depth, parent, 0.9);
        for (int i = 0; i < siblings; ++i)
            step.draft.add(100 + i, parent, 0.01);
        step.draft.addConfidence(0.9);
        if (depth < accepted) {
            step.path.push_back(spine);
            step.tokens.push_back(10 + depth);
        }
        parent = spine;
    }
    step.tokens.push_back(99);
    step.facts.resize(step.tokens.size());
    step.verifiedRows = step.draft.size() + 1;
    return step;
}

DecodeStep plainRound() { return draftedRound(0, 0); }

/// As printed, with two decimals.
int hundredths(double value) { return static_cast<int>(std::lround(value * 100.0)); }

} // namespace

class DecodeMetricsTest : public QObject {
    Q_OBJECT

private slots:
    void theHandMadeTraceHasItsFigures();
    void acceptanceNamesItsDenominator();
    void timesAreSplitAndAddUp();
    void plainRoundsThatWereAskedForAreTheBaselineAndNothingElse();
    void plainRoundsOfItsOwnChoiceAreRoundsAndBaseline();
    void roundsWithRowsBesideTheTokenAreNoBaseline();
    void tokensPerLayerCountsEveryLayerThatIsRead();
    void sumsOfSumsAreSums();
    void searchingCountsAgainstTheSpeedup();
    void nothingIsClaimedBeforeItIsMeasured();
    void tableFourFollowsFromEquationSix();
    void expectedSpeedupMatchesTheOracle();
    void verifyCostAndOtherWorkLowerTheExpectation();
};

void DecodeMetricsTest::theHandMadeTraceHasItsFigures() {
    DecodeMetrics metrics;
    metrics.add(draftedRound(3, 3), 10.0);
    metrics.add(draftedRound(1, 0), 10.0);
    QCOMPARE(metrics.rounds, 2);
    QCOMPARE(metrics.tokens, 5);
    QCOMPARE(metrics.tokensPerRound().value(), 2.5);
    QCOMPARE(metrics.acceptance().value(), 0.75);
}

void DecodeMetricsTest::acceptanceNamesItsDenominator() {
    DecodeMetrics metrics;
    metrics.add(draftedRound(4, 3, 2), 1.0);
    QCOMPARE(metrics.draftSteps, 4);
    QCOMPARE(metrics.draftedNodes, 12);
    QCOMPARE(metrics.verifiedRows, 13);
    QCOMPARE(metrics.acceptance().value(), 3.0 / 4.0);
}

void DecodeMetricsTest::timesAreSplitAndAddUp() {
    DecodeMetrics metrics;
    DecodeStep step = draftedRound(2, 1);
    step.draftMs = 3.0;
    step.verifyMs = 4.0;
    step.search.searchMs = 2.0;
    metrics.add(step, 10.0);
    QCOMPARE(metrics.draftMs, 3.0);
    QCOMPARE(metrics.verifyMs, 4.0);
    QCOMPARE(metrics.searchMs, 2.0);
    QCOMPARE(metrics.otherMs, 1.0);
    QCOMPARE(metrics.msPerToken().value(), 5.0);
}

void DecodeMetricsTest::plainRoundsThatWereAskedForAreTheBaselineAndNothingElse() {
    DecodeMetrics metrics;
    DecodeStep step = draftedRound(3, 3);
    step.draftMs = 8.0;
    step.verifyMs = 12.0;
    metrics.add(step, 20.0);
    const DecodeMetrics before = metrics;
    metrics.addBaseline(plainRound(), 9.0);
    metrics.addBaseline(plainRound(), 11.0);
    QCOMPARE(metrics.tokensPerRound(), before.tokensPerRound());
    QCOMPARE(metrics.acceptance(), before.acceptance());
    QCOMPARE(metrics.msPerToken(), before.msPerToken());
    QCOMPARE(metrics.baselineTokens, 2);
    QCOMPARE(metrics.baselineMsPerToken().value(), 10.0);
    QCOMPARE(metrics.speedup().value(), 2.0); // 4 tokens in 20 ms against 10 ms a token
}

/// Where a decoder drafts in one round of two, half of its tokens come at vanilla's speed.
void DecodeMetricsTest::plainRoundsOfItsOwnChoiceAreRoundsAndBaseline() {
    DecodeMetrics metrics;
    metrics.add(plainRound(), 10.0);
    QVERIFY(!metrics.tokensPerRound() && !metrics.speedup()); // nothing was drafted yet
    DecodeStep step = draftedRound(3, 3);
    step.draftLayers = 2.0;
    step.verifyLayers = 8.0;
    step.verifyMs = 20.0;
    metrics.add(step, 20.0);
    QCOMPARE(metrics.ownRounds(), 2);
    QCOMPARE(metrics.ownTokens(), 5);
    QCOMPARE(metrics.tokensPerRound().value(), 2.5);
    QCOMPARE(metrics.msPerToken().value(), 6.0);
    QCOMPARE(metrics.baselineMsPerToken().value(), 10.0);
    QCOMPARE(metrics.speedup().value(), 10.0 / 6.0);
    DecodeStep plain = plainRound();
    plain.verifyLayers = 8.0;
    metrics.add(plain, 10.0);
    QCOMPARE(metrics.tokensPerLayer().value(), 6.0 / 18.0);
}

/// A window that runs beside the newest token makes a pass dearer than a plain one.
void DecodeMetricsTest::roundsWithRowsBesideTheTokenAreNoBaseline() {
    DecodeMetrics metrics;
    DecodeStep step = plainRound();
    step.sides = {{7, -1}, {8, 0}};
    QVERIFY(!step.isPlain());
    metrics.add(step, 10.0);
    QCOMPARE(metrics.rounds, 1);
    QCOMPARE(metrics.tokensPerRound().value(), 1.0);
    QCOMPARE(metrics.baselineTokens, 0);
}

void DecodeMetricsTest::tokensPerLayerCountsEveryLayerThatIsRead() {
    constexpr double kLayers = 8.0;
    DecodeMetrics metrics;
    QVERIFY(!metrics.tokensPerLayer());
    DecodeStep plain = plainRound();
    plain.verifyLayers = kLayers;
    metrics.addBaseline(plain, 1.0);
    QVERIFY(!metrics.tokensPerLayer());
    // An exit after 3 of 8 layers, drafted 4 times, of which verifying goes on behind the third:
    // g E + L in all, as arXiv 2504.05598 counts it.
    DecodeStep exit = draftedRound(4, 2);
    exit.draftLayers = 4 * 3.0 + 3.0;
    exit.verifyLayers = kLayers - 3.0;
    metrics.add(exit, 1.0);
    QCOMPARE(metrics.tokensPerLayer().value(), 3.0 / (4 * 3.0 + kLayers));
}

void DecodeMetricsTest::sumsOfSumsAreSums() {
    DecodeStep drafted = draftedRound(4, 2, 1);
    drafted.draftLayers = 6.0;
    drafted.verifyLayers = 8.0;
    drafted.draftMs = 1.0;
    drafted.verifyMs = 2.0;
    drafted.search.searchMs = 0.5;
    DecodeStep plain = plainRound();
    plain.verifyLayers = 8.0;
    DecodeMetrics whole;
    DecodeMetrics halves;
    for (int i = 0; i < 2; ++i) {
        DecodeMetrics half;
        for (const DecodeStep& step : {drafted, plain}) {
            half.add(step, 4.0);
            whole.add(step, 4.0);
        }
        half.addBaseline(plain, 5.0);
        whole.addBaseline(plain, 5.0);
        halves.add(half);
    }
    QVERIFY(whole.baselineLayers == 32.0 && whole.plainLayers == 16.0 && whole.draftLayers == 12.0);
    QVERIFY(halves == whole);
}

void DecodeMetricsTest::searchingCountsAgainstTheSpeedup() {
    DecodeMetrics metrics;
    DecodeStep step = draftedRound(3, 3);
    step.verifyMs = 20.0;
    metrics.add(step, 20.0);
    DecodeStep searching = plainRound();
    searching.search.searchMs = 5.0;
    metrics.addBaseline(searching, 15.0);
    QCOMPARE(metrics.baselineMsPerToken().value(), 10.0); // the search is none of the baseline's
    metrics.addSearch(15.0);
    QCOMPARE(metrics.searchMs, 20.0);
    QCOMPARE(metrics.speedup().value(), 1.0);
}

void DecodeMetricsTest::nothingIsClaimedBeforeItIsMeasured() {
    DecodeMetrics metrics;
    QVERIFY(!metrics.tokensPerRound() && !metrics.acceptance());
    QVERIFY(!metrics.msPerToken() && !metrics.baselineMsPerToken() && !metrics.speedup());
    metrics.add(plainRound(), 5.0);
    QVERIFY(metrics.baselineMsPerToken() && !metrics.speedup() && !metrics.tokensPerRound());
}

void DecodeMetricsTest::tableFourFollowsFromEquationSix() {
    struct Cell {
        double tokensPerRound, acceptance, cost, printed;
    };

    // CNN/DM, GSM8K, TinyStories for LLaMA-2 13B, 13B-Chat and 70B.
    const std::vector<Cell> cells = {{4.34, .99, .55, 1.52},
                                     {3.13, .98, .55, 1.43},
                                     {8.21, 1.00, .55, 1.65},
                                     {3.54, .90, .55, 1.39},
                                     {2.95, .92, .55, 1.36},
                                     {7.42, .99, .55, 1.62},
                                     {3.85, .99, .50, 1.58},
                                     {2.99, .98, .50, 1.48},
                                     {6.17, .99, .50, 1.71}};
    for (const Cell& cell : cells)
        QCOMPARE(hundredths(expectedSpeedup({.tokensPerRound = cell.tokensPerRound,
                                             .acceptance = cell.acceptance,
                                             .draftCost = cell.cost})),
                 hundredths(cell.printed));
}

void DecodeMetricsTest::expectedSpeedupMatchesTheOracle() {
    if (!support::hasGoldenData())
        QSKIP("the golden data does not lie beside the checkout");
    const auto golden = support::readJsonObject(support::goldenPath("acceptance_theory.json"));
    const QJsonArray cases = golden["speed"]["cases"].toArray();
    QVERIFY(cases.size() > 100);
    for (const QJsonValue& item : cases) {
        const double expected = item["E"].toDouble();
        const double own = expectedSpeedup({.tokensPerRound = item["M"].toDouble(),
                                            .acceptance = item["alpha"].toDouble(),
                                            .draftCost = item["c"].toDouble()});
        QVERIFY2(std::abs(own - expected) <= 1e-12 * expected, qPrintable(QString::number(own)));
    }
}

void DecodeMetricsTest::verifyCostAndOtherWorkLowerTheExpectation() {
    const SpeedFactors factors{.tokensPerRound = 3.0,
                               .acceptance = 0.8,
                               .draftCost = 0.5,
                               .verifyCost = 1.5,
                               .otherCost = 0.25};
    QCOMPARE(expectedSpeedup(factors), 3.0 / (2.0 / 0.8 * 0.5 + 1.5 + 0.25));
    QCOMPARE(expectedSpeedup({.tokensPerRound = 1.0, .acceptance = 0.0, .draftCost = 0.5}), 1.0);
    QCOMPARE(expectedSpeedup({.tokensPerRound = 2.0, .acceptance = 0.0, .draftCost = 0.5}), 0.0);
}

QTEST_APPLESS_MAIN(DecodeMetricsTest)
#include "decode_metrics_test.moc"
