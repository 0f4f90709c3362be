// SPDX-License-Identifier: Apache-2.0
// The arithmetic with which KnapSpec chooses among the sets of a front.
#include "plugins/clasp/plan_choice.h"

#include <QTest>

#include <cmath>

using namespace engine;
using namespace clasp;

class PlanChoiceTest : public QObject {
    Q_OBJECT

private slots:
    void theBestChainIsThatOfTheFormula();
    void aSetThatIsNeverAcceptedIsSlowerThanNone();
    void aLossExpectsLessTheLargerItIs();
    void countsMoveTheExpectationOfLikeLosses();
    void theFastestComeFirstAndOfEqualOnesTheLarger();
};

/// (1 - a^(g+1)) / (1 - a) tokens for g passes and a verification of g + 1 rows.
void PlanChoiceTest::theBestChainIsThatOfTheFormula() {
    StepCosts costs;
    for (int i = 0; i < 50; ++i) {
        costs.record(1, 10.0);
        for (int rows = 2; rows <= 11; ++rows)
            costs.record(rows, 10.0 * (1.0 + 0.05 * (rows - 1)));
    }
    for (const double a : {0.3, 0.7, 0.9, 0.97})
        for (const double c : {0.2, 0.5, 0.8}) {
            double best = 0.0;
            int length = 0;
            for (int g = 1; g <= 10; ++g) {
                const double tokens = (1.0 - std::pow(a, g + 1)) / (1.0 - a);
                const double speed = tokens / (g * c + costs.relativeCost(g + 1));
                if (speed > best) {
                    best = speed;
                    length = g;
                }
            }
            const ChainSpeed found = bestChain(a, c, costs, 10);
            QVERIFY(std::abs(found.speed - best) < 1e-12);
            QCOMPARE(found.length, length);
            QCOMPARE(bestChain(a, c, costs, 1).length, 1);
        }
}

void PlanChoiceTest::aSetThatIsNeverAcceptedIsSlowerThanNone() {
    QVERIFY(bestChain(0.0, 0.4, {}, 10).speed < 1.0);
}

void PlanChoiceTest::aLossExpectsLessTheLargerItIs() {
    const AcceptanceByLoss table;
    double before = 1.0;
    for (double loss = 1e-8; loss < 2.0; loss *= 3.0) {
        const double expected = table.expected(loss);
        QVERIFY(expected <= before && expected >= 0.0);
        before = expected;
    }
    QVERIFY(table.expected(1e-8) > 0.97);
    QCOMPARE(table.expected(1.0), 0.0);
}

void PlanChoiceTest::countsMoveTheExpectationOfLikeLosses() {
    AcceptanceByLoss table;
    const double first = table.expected(0.02);
    const double elsewhere = table.expected(2e-4);
    for (int i = 0; i < 30; ++i)
        table.learn(0.03, 14, 16);
    QVERIFY(table.expected(0.02) > first + 0.2);
    QCOMPARE(table.expected(2e-4), elsewhere);
    for (int i = 0; i < 60; ++i)
        table.learn(0.03, 0, 16);
    QVERIFY(table.expected(0.03) < 0.1);
}

void PlanChoiceTest::theFastestComeFirstAndOfEqualOnesTheLarger() {
    std::vector<Promising> sets(4);
    const std::vector<double> speeds = {1.2, 1.4, 1.4, 0.9};
    for (std::size_t i = 0; i < sets.size(); ++i) {
        sets[i].chain.speed = speeds[i];
        sets[i].loss = static_cast<double>(i);
    }
    const auto best = fastest(sets, 3);
    QCOMPARE(best.size(), std::size_t{3});
    QCOMPARE(best[0].loss, 2.0);
    QCOMPARE(best[1].loss, 1.0);
    QCOMPARE(best[2].loss, 0.0);
    QVERIFY(fastest({}, 2).empty());
}

QTEST_GUILESS_MAIN(PlanChoiceTest)
#include "plan_choice_test.moc"
