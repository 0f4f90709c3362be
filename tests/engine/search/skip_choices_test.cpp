// SPDX-License-Identifier: Apache-2.0
#include "engine/search/skip_choices.h"
#include "tests/support/models/tiny_model.h"

#include <QTest>

#include <algorithm>
#include <numeric>

using namespace engine;

namespace {

constexpr int kLayers = 8;

ModelConfig config() { return support::layeredConfig(kLayers); }

/// An attention sublayer of this network has 48 x 12 x 2 x (4 + 2) weights, an MLP 3 x 48 x 80.
constexpr double kAttention = 6912.0;
constexpr double kMlp = 11520.0;

/// [2 * layers] all alike but for the attention of `least`.
std::vector<double> influence(int least) {
    std::vector<double> values(2 * kLayers, 1.0);
    values[static_cast<std::size_t>(least)] = 0.1;
    return values;
}

int skipped(const LayerPlan& plan) {
    const auto count = [](const auto& actions) {
        return static_cast<int>(std::ranges::count(actions, SublayerAction::Skip));
    };
    return count(plan.attention) + count(plan.mlp);
}

} // namespace

class SkipChoicesTest : public QObject {
    Q_OBJECT

private slots:

    void aBudgetOfSublayersCountsThem() {
        const SkipChoices choices(config(), BudgetUnit::Sublayers);
        const SkipBudget budget = choices.budget(0.5);
        QCOMPARE(budget.total, 6.0); // of 12
        QVERIFY(std::ranges::all_of(budget.costs, [](double cost) { return cost == 1.0; }));
    }

    void aBudgetOfBytesWeighsThem() {
        const SkipChoices choices(config(), BudgetUnit::Bytes);
        const SkipBudget budget = choices.budget(0.25);
        QCOMPARE(budget.costs.size(), std::size_t{12});
        QCOMPARE(budget.costs.front() / budget.costs.back(), kAttention / kMlp);
        const double all = std::accumulate(budget.costs.begin(), budget.costs.end(), 0.0);
        QVERIFY(std::abs(budget.total / all - 0.25) < 1e-6);
    }

    void theRatioOfAPlanIsWhatItSpends() {
        LayerPlan plan = LayerPlan::full(kLayers);
        plan.attention[3] = SublayerAction::Skip;
        plan.mlp[0] = SublayerAction::Skip; // outside the space: not counted
        QCOMPARE(SkipChoices(config(), BudgetUnit::Sublayers).ratioOf(plan), 1.0 / 12.0);
        QCOMPARE(SkipChoices(config(), BudgetUnit::Bytes).ratioOf(plan),
                 kAttention / (6.0 * (kAttention + kMlp)));
    }

    void theLeastInfluenceIsSkippedFirst() {
        const SkipChoices choices(config(), BudgetUnit::Sublayers);
        const LayerPlan plan = choices.leastInfluence(influence(4), 0.1);
        QCOMPARE(skipped(plan), 1);
        QVERIFY(!plan.runsAttention(4));
    }

    /// Equal influence: the larger sublayer saves more.
    void inBytesTheLargerOfEqualsIsSkippedFirst() {
        const SkipChoices choices(config(), BudgetUnit::Bytes);
        const LayerPlan plan = choices.leastInfluence(std::vector<double>(2 * kLayers, 1.0), 0.35);
        QCOMPARE(std::ranges::count(plan.attention, SublayerAction::Skip), 0);
        QCOMPARE(std::ranges::count(plan.mlp, SublayerAction::Skip), 3);
    }

    void withoutInfluenceTheSetIsUniformAndNothingIsPreferred() {
        const SkipChoices choices(config(), BudgetUnit::Sublayers);
        QVERIFY(choices.leastInfluence({}, 0.5) == choices.space().uniform(0.5));
        QVERIFY(choices.weights({}).empty());
    }

    void littleInfluenceIsPreferred() {
        const SkipChoices choices(config(), BudgetUnit::Sublayers);
        const std::vector<double> weights = choices.weights(influence(2));
        QCOMPARE(weights.size(), std::size_t{12});
        const auto best = std::ranges::max_element(weights) - weights.begin();
        QCOMPARE(static_cast<int>(best), 1); // layer 2 is the space's second
    }
};

QTEST_GUILESS_MAIN(SkipChoicesTest)
#include "skip_choices_test.moc"
