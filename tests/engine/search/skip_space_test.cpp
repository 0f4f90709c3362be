// SPDX-License-Identifier: Apache-2.0
#include "engine/base/result.h"
#include "engine/search/skip_space.h"

#include <QTest>

#include <numeric>

using namespace engine;

namespace {

int countOf(const std::vector<std::uint8_t>& bits) {
    return std::accumulate(bits.begin(), bits.end(), 0);
}

std::vector<int> skippedLayers(const std::vector<SublayerAction>& sublayers) {
    std::vector<int> layers;
    for (std::size_t i = 0; i < sublayers.size(); ++i)
        if (sublayers[i] == SublayerAction::Skip)
            layers.push_back(static_cast<int>(i));
    return layers;
}

using Bits = std::vector<std::uint8_t>;
using Layers = std::vector<int>;

} // namespace

class SkipSpaceTest : public QObject {
    Q_OBJECT

private slots:
    void countsFollowTheRatio_data();
    void countsFollowTheRatio();
    void coordinatesAreAttentionsThenMlps();
    void allCoversFirstAndLastLayers();
    void bitsAndPlansAreTwoFormsOfOneThing();
    void whatASpaceCannotSkipHasNoCoordinate();
    void uniformSkipsTheRatioAtEvenDistances();
    void uniformAtHalfEqualsThePublishedStartSet();
    void smallModelsHaveNothingToSkip();
    void unitBudgetsTakeExactlyTheirCount();
    void budgetsPassOverWhatDoesNotFit();
    void wrongShapesAreBugs();
};

void SkipSpaceTest::countsFollowTheRatio_data() {
    QTest::addColumn<int>("layers");
    QTest::addColumn<double>("ratio");
    QTest::addColumn<int>("count");
    QTest::newRow("13B") << 40 << 0.45 << 34;
    QTest::newRow("34B") << 48 << 0.5 << 46;
    QTest::newRow("70B") << 80 << 0.5 << 78;
    QTest::newRow("70B, lowered") << 80 << 0.4 << 62;
    QTest::newRow("60 layers") << 60 << 0.45 << 52;
    QTest::newRow("62 layers") << 62 << 0.5 << 60;
    // 100 * .29 is 28.999999999999996 in doubles.
    QTest::newRow("a whole product") << 52 << 0.29 << 29;
    QTest::newRow("nothing") << 40 << 0.0 << 0;
    QTest::newRow("everything") << 40 << 1.0 << 76;
}

void SkipSpaceTest::countsFollowTheRatio() {
    QFETCH(int, layers);
    QFETCH(double, ratio);
    QFETCH(int, count);
    const SkipSpace space = SkipSpace::inner(layers);
    QCOMPARE(space.skippedCount(ratio), count);
    QCOMPARE(countOf(space.bits(space.uniform(ratio))), count);
}

void SkipSpaceTest::coordinatesAreAttentionsThenMlps() {
    const SkipSpace space = SkipSpace::inner(5);
    QCOMPARE(space.dims(), 6);
    const LayerPlan plan = space.plan(Bits{0, 1, 0, 0, 0, 1});
    QCOMPARE(skippedLayers(plan.attention), (Layers{2}));
    QCOMPARE(skippedLayers(plan.mlp), (Layers{3}));
    QCOMPARE(plan.exitAfterLayer, 4);
}

void SkipSpaceTest::allCoversFirstAndLastLayers() {
    const SkipSpace space = SkipSpace::all(3);
    QCOMPARE(space.dims(), 6);
    const LayerPlan plan = space.plan(Bits{1, 0, 0, 0, 0, 1});
    QCOMPARE(skippedLayers(plan.attention), (Layers{0}));
    QCOMPARE(skippedLayers(plan.mlp), (Layers{2}));
}

void SkipSpaceTest::bitsAndPlansAreTwoFormsOfOneThing() {
    for (const SkipSpace& space : {SkipSpace::inner(7), SkipSpace::all(5)}) {
        Bits bits(10, 0);
        for (int number = 0; number < 1024; ++number) {
            for (std::size_t i = 0; i < 10; ++i)
                bits[i] = static_cast<std::uint8_t>((number >> i) & 1);
            QCOMPARE(space.bits(space.plan(bits)), bits);
        }
    }
}

void SkipSpaceTest::whatASpaceCannotSkipHasNoCoordinate() {
    LayerPlan plan = LayerPlan::full(4);
    plan.attention[0] = SublayerAction::Skip;
    plan.mlp[2] = SublayerAction::Skip;
    plan.mlp[3] = SublayerAction::Skip;
    QCOMPARE(SkipSpace::inner(4).bits(plan), (Bits{0, 0, 0, 1}));
}

void SkipSpaceTest::uniformSkipsTheRatioAtEvenDistances() {
    const LayerPlan plan = SkipSpace::inner(12).uniform(0.25); // 5 of 20: 3 attentions, 2 MLPs
    QCOMPARE(skippedLayers(plan.attention), (Layers{1, 4, 7}));
    QCOMPARE(skippedLayers(plan.mlp), (Layers{1, 6}));
    const LayerPlan whole = SkipSpace::all(4).uniform(0.5);
    QCOMPARE(skippedLayers(whole.attention), (Layers{0, 2}));
}

void SkipSpaceTest::uniformAtHalfEqualsThePublishedStartSet() {
    const SkipSpace space = SkipSpace::inner(40);
    QVERIFY(space.uniform(0.5) == space.oddLayers());
    QCOMPARE(skippedLayers(space.oddLayers().mlp).size(), std::size_t{19});
    QCOMPARE(skippedLayers(space.oddLayers().mlp).back(), 37);
    // The published set ignores the ratio: 38 where .45 asks for 34.
    QCOMPARE(countOf(space.bits(space.oddLayers())), 38);
    QCOMPARE(skippedLayers(SkipSpace::inner(5).oddLayers().attention), (Layers{1, 3}));
}

void SkipSpaceTest::smallModelsHaveNothingToSkip() {
    for (const int layers : {1, 2}) {
        const SkipSpace space = SkipSpace::inner(layers);
        QCOMPARE(space.dims(), 0);
        QVERIFY(space.uniform(0.9) == LayerPlan::full(layers));
        QVERIFY(space.oddLayers() == LayerPlan::full(layers));
        QVERIFY(space.plan({}) == LayerPlan::full(layers));
    }
}

void SkipSpaceTest::unitBudgetsTakeExactlyTheirCount() {
    const std::vector<int> order = {3, 0, 5, 1, 4, 2};
    QCOMPARE(SkipBudget::unit(6, 3).select(order), (Bits{1, 0, 0, 1, 0, 1}));
    for (int count = 0; count <= 6; ++count)
        QCOMPARE(countOf(SkipBudget::unit(6, count).select(order)), count);
}

void SkipSpaceTest::budgetsPassOverWhatDoesNotFit() {
    const SkipBudget budget{{5.0, 2.0, 3.0, 4.0}, 7.0};
    QCOMPARE(budget.select(std::vector<int>{0, 2, 3, 1}), (Bits{1, 1, 0, 0}));
    QCOMPARE(budget.select(std::vector<int>{3, 2, 1, 0}), (Bits{0, 0, 1, 1}));
    // .1 added three times is more than .3 in doubles.
    QCOMPARE(countOf(SkipBudget{{0.1, 0.1, 0.1}, 0.3}.select(std::vector<int>{0, 1, 2})), 3);
}

void SkipSpaceTest::wrongShapesAreBugs() {
    const SkipSpace space = SkipSpace::inner(5);
    QVERIFY_EXCEPTION_THROWN(space.plan(Bits(5, 0)), EngineBug);
    QVERIFY_EXCEPTION_THROWN(space.bits(LayerPlan::full(6)), EngineBug);
    QVERIFY_EXCEPTION_THROWN(space.skippedCount(1.5), EngineBug);
    const SkipBudget budget = SkipBudget::unit(3, 2);
    QVERIFY_EXCEPTION_THROWN(budget.select(std::vector<int>{1, 1}), EngineBug);
    QVERIFY_EXCEPTION_THROWN(budget.select(std::vector<int>{3}), EngineBug);
}

QTEST_APPLESS_MAIN(SkipSpaceTest)
#include "skip_space_test.moc"
