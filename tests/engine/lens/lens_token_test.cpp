// SPDX-License-Identifier: Apache-2.0
// What is kept of a row of logits, and where a token became final.
#include "engine/lens/lens_token.h"

#include <QTest>

#include <cmath>

using namespace engine;

namespace {

/// A token that leads at these depths.
LensToken tokenOfRanks(const std::vector<int>& ranks) {
    LensToken token;
    for (const int rank : ranks)
        token.cells.emplace_back().rank = rank;
    return token;
}

} // namespace

class LensTokenTest : public QObject {
    Q_OBJECT

private slots:
    void aDepthIsASublayer();
    void theBestFiveAreKept();
    void aTokenFarBehindIsCounted();
    void ofEqualLogitsTheLowerIdComesFirst();
    void aTokenIsFinalWhereItTakesTheLeadForGood_data();
    void aTokenIsFinalWhereItTakesTheLeadForGood();
};

void LensTokenTest::aDepthIsASublayer() {
    QCOMPARE(lensDepths(30), 61);
    QCOMPARE(layerOfDepth(0), -1);
    QVERIFY(!isBehindMlp(0));
    QCOMPARE(layerOfDepth(1), 0);
    QVERIFY(!isBehindMlp(1));
    QCOMPARE(layerOfDepth(60), 29);
    QVERIFY(isBehindMlp(60));
}

void LensTokenTest::theBestFiveAreKept() {
    const std::vector<double> logits = {0.0, 3.0, 1.0, 5.0, 2.0, 4.0, -1.0};
    const LensCell cell = lensCell(summarise(logits), 1, {});
    const std::vector<TokenId> expected = {3, 5, 1, 4, 2};
    QCOMPARE(cell.ids, expected);
    QCOMPARE(cell.rank, 2);
    double total = 0.0;
    for (const double logit : logits)
        total += std::exp(logit);
    QCOMPARE(cell.probability, std::exp(3.0) / total);
    QCOMPARE(cell.probabilities[0], std::exp(5.0) / total);
    QCOMPARE(cell.probabilities[2], cell.probability);
    QCOMPARE(lensCell(summarise(std::vector{1.0, 2.0}), 0, {}).ids.size(), std::size_t{2});
}

void LensTokenTest::aTokenFarBehindIsCounted() {
    std::vector<double> logits(40);
    for (std::size_t id = 0; id < logits.size(); ++id)
        logits[id] = -static_cast<double>(id);
    const LensCell cell = lensCell(summarise(logits), 33, logits);
    QCOMPARE(cell.rank, 33);
    double total = 0.0;
    for (const double logit : logits)
        total += std::exp(logit);
    QCOMPARE(cell.probability, std::exp(-33.0) / total);
    QVERIFY(!cell.isInTheLead());
}

void LensTokenTest::ofEqualLogitsTheLowerIdComesFirst() {
    const std::vector<double> logits(30, 1.0);
    QCOMPARE(lensCell(summarise(logits), 0, logits).rank, 0);
    QCOMPARE(lensCell(summarise(logits), 20, logits).rank, 20);
}

void LensTokenTest::aTokenIsFinalWhereItTakesTheLeadForGood_data() {
    QTest::addColumn<std::vector<int>>("ranks");
    QTest::addColumn<int>("depth");
    QTest::newRow("late") << std::vector{7, 3, 1, 0} << 3;
    QTest::newRow("from the embedding on") << std::vector{0, 0, 0} << 0;
    QTest::newRow("lost in between") << std::vector{2, 0, 1, 0, 0} << 3;
    QTest::newRow("lost at the end") << std::vector{2, 0, 0, 1} << -1;
    QTest::newRow("never") << std::vector{5, 4} << -1;
}

void LensTokenTest::aTokenIsFinalWhereItTakesTheLeadForGood() {
    QFETCH(std::vector<int>, ranks);
    QTEST(tokenOfRanks(ranks).finalDepth(), "depth");
}

QTEST_GUILESS_MAIN(LensTokenTest)
#include "lens_token_test.moc"
