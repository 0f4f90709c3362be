// SPDX-License-Identifier: Apache-2.0
#include "engine/metrics/sample_statistics.h"

#include <QTest>

#include <array>
#include <cmath>

using namespace engine;

class SampleStatisticsTest : public QObject {
    Q_OBJECT

private slots:
    void quartilesLieBetweenTheOrderStatistics();
    void theOrderOfSamplesDoesNotMatter();
    void oneSampleIsItsOwnSpreadAndNoneHasNone();
    void ratiosArePairByPair();
    void theRatioOfSumsWeighsLongPairsMore();
    void theMedianRatioIgnoresOneSlowPair();
    void equalRatiosHaveANarrowInterval();
    void theIntervalHoldsTheRatioAndRepeats();
    void groupsWeighAlikeWhateverTheirSize();
};

void SampleStatisticsTest::quartilesLieBetweenTheOrderStatistics() {
    const Spread four = spreadOf(std::array{1.0, 2.0, 3.0, 4.0});
    QCOMPARE(four.lower, 1.75);
    QCOMPARE(four.median, 2.5);
    QCOMPARE(four.upper, 3.25);
    const Spread five = spreadOf(std::array{10.0, 20.0, 30.0, 40.0, 100.0});
    QCOMPARE(five.lower, 20.0);
    QCOMPARE(five.median, 30.0);
    QCOMPARE(five.upper, 40.0);
}

void SampleStatisticsTest::theOrderOfSamplesDoesNotMatter() {
    QCOMPARE(medianOf(std::array{9.0, 1.0, 5.0}), 5.0);
    QCOMPARE(medianOf(std::array{4.0, 1.0, 3.0, 2.0}), 2.5);
}

void SampleStatisticsTest::oneSampleIsItsOwnSpreadAndNoneHasNone() {
    const Spread one = spreadOf(std::array{7.0});
    QCOMPARE(one.lower, 7.0);
    QCOMPARE(one.upper, 7.0);
    QVERIFY(std::isnan(medianOf({})));
    QVERIFY(std::isnan(ratioOfSums({}, {}).ratio));
}

void SampleStatisticsTest::ratiosArePairByPair() {
    const auto ratios = ratiosOf(std::array{2.0, 9.0}, std::array{4.0, 3.0});
    QCOMPARE(ratios, (std::vector<double>{0.5, 3.0}));
}

void SampleStatisticsTest::theRatioOfSumsWeighsLongPairsMore() {
    QCOMPARE(ratioOfSums(std::array{1.0, 30.0}, std::array{1.0, 10.0}).ratio, 31.0 / 11.0);
}

void SampleStatisticsTest::theMedianRatioIgnoresOneSlowPair() {
    const std::array above = {2.0, 2.2, 100.0};
    const std::array below = {1.0, 1.0, 1.0};
    QCOMPARE(medianRatio(above, below).ratio, 2.2);
}

void SampleStatisticsTest::equalRatiosHaveANarrowInterval() {
    const std::array above = {3.0, 6.0, 9.0};
    const std::array below = {2.0, 4.0, 6.0};
    const RatioEstimate estimate = ratioOfSums(above, below);
    QCOMPARE(estimate.ratio, 1.5);
    QCOMPARE(estimate.low, 1.5);
    QCOMPARE(estimate.high, 1.5);
}

void SampleStatisticsTest::theIntervalHoldsTheRatioAndRepeats() {
    const std::array above = {1.0, 1.2, 0.9, 1.6, 1.1, 1.3, 0.8, 1.4};
    const std::array below = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    const RatioEstimate estimate = ratioOfSums(above, below);
    QVERIFY(estimate.low < estimate.ratio && estimate.ratio < estimate.high);
    // The standard error of this mean is 0.094: the interval is about 2 of them to each side.
    QVERIFY(estimate.ratio - estimate.low > 0.08 && estimate.high - estimate.ratio < 0.3);
    QCOMPARE(ratioOfSums(above, below).low, estimate.low);
    QVERIFY(ratioOfSums(above, below, 2).low != estimate.low ||
            ratioOfSums(above, below, 2).high != estimate.high);
}

void SampleStatisticsTest::groupsWeighAlikeWhateverTheirSize() {
    const std::array groups = {SampleGroup{{2.0}, {1.0}},
                               SampleGroup{{4.0, 8.0, 12.0}, {1.0, 2.0, 3.0}}};
    const RatioEstimate mean = meanRatioOfSums(groups);
    QCOMPARE(mean.ratio, 3.0);
    QVERIFY(std::abs(mean.low - 3.0) < 1e-12 && std::abs(mean.high - 3.0) < 1e-12);
    const SampleGroup spread = {{1.0, 1.2, 0.9, 1.6}, {1.0, 1.0, 1.0, 1.0}};
    const RatioEstimate alone = meanRatioOfSums(std::array{spread});
    QCOMPARE(alone.low, ratioOfSums(spread.numerators, spread.denominators).low);
    // Two independent groups: the mean is surer than either.
    const RatioEstimate both = meanRatioOfSums(std::array{spread, spread});
    QCOMPARE(both.ratio, alone.ratio);
    QVERIFY(both.high - both.low < 0.9 * (alone.high - alone.low));
    QVERIFY(std::isnan(meanRatioOfSums({}).ratio));
}

QTEST_GUILESS_MAIN(SampleStatisticsTest)
#include "sample_statistics_test.moc"
