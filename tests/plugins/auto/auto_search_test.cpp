// SPDX-License-Identifier: Apache-2.0
// When auto looks for a skip set, by arithmetic on made-up costs and influence.
#include "plugins/auto/search/plan_search.h"
#include "tests/support/models/tiny_model.h"

#include <QTest>

#include <cmath>

using namespace automatic;
using namespace engine;

namespace {

constexpr int kLayers = 12;
constexpr double kTrialCost = 2.0; // plain steps
constexpr DraftersWanted kSkips{.skips = true, .exits = false};

ModelConfig config() { return support::layeredConfig(kLayers); }

/// Rows cost `rowPart` of a pass each, draft passes their share of the weights.
StepCosts costs(double rowPart) {
    StepCosts costs;
    costs.record(1, 10.0);
    for (int rows = 2; rows <= 16; ++rows)
        costs.recordFirst(rows, 10.0 * (1.0 + rowPart * (rows - 1)));
    return costs;
}

struct Case {
    PlanSearch search{config()};
    StepCosts stepCosts = costs(0.05);
    RoundRates rounds;
    std::vector<double> influence = std::vector<double>(2 * kLayers, 0.01);
    double elapsed = 100.0;

    bool isWorthIt() {
        search.judge({.influence = influence,
                      .costs = stepCosts,
                      .rounds = rounds,
                      .leastRate = 1.02,
                      .maxNodes = 15,
                      .elapsed = elapsed});
        return search.isWorthIt(kTrialCost);
    }

    Candidate next() { return *search.next(kSkips, false, {}).value(); }
};

} // namespace

class AutoSearchTest : public QObject {
    Q_OBJECT

private slots:

    void theBestChainIsThatOfTheFormula() {
        const Promise chain = bestChain({.acceptance = 0.8, .cost = 0.3}, costs(0.1), 15);
        double best = 0.0;
        for (int nodes = 1; nodes <= 15; ++nodes) {
            const double tokens = (1.0 - std::pow(0.8, nodes + 1)) / 0.2;
            best = std::max(best, tokens / (0.3 * nodes + 1.0 + 0.1 * nodes));
        }
        QVERIFY(std::abs(chain.rate() - best) < 1e-9);
        QVERIFY(chain.nodes > 1 && chain.nodes < 15);
    }

    /// n passes of the first half and the head, the last token's through that half, the rest.
    void anExitIsPricedByItsResumedVerification() {
        LayerPlan exit = LayerPlan::full(kLayers);
        exit.exitAfterLayer = kLayers / 2 - 1;
        const PassShares shares = PassShares::of(exit, config());
        QVERIFY(shares.resumes());
        QVERIFY(std::abs(shares.last + shares.verify - 1.0) < 1e-9);
        QVERIFY(shares.draft > shares.last && shares.draft < 1.0);
        const Promise chain = bestChain(DraftPass::of(0.8, shares, costs(0.1)), costs(0.1), 15);
        double best = 0.0;
        for (int nodes = 1; nodes <= 15; ++nodes) {
            const double tokens = (1.0 - std::pow(0.8, nodes + 1)) / 0.2;
            const double cost =
                nodes * shares.draft + shares.last + shares.verify * (1.0 + 0.1 * nodes);
            best = std::max(best, tokens / cost);
        }
        QVERIFY(std::abs(chain.rate() - best) < 1e-9);
        LayerPlan holed = exit;
        holed.mlp[2] = SublayerAction::Skip; // what it leaves out is missing to the verification
        QVERIFY(!PassShares::of(holed, config()).resumes());
        QVERIFY(!PassShares::of(LayerPlan::full(kLayers), config()).resumes());
    }

    void theNeededAcceptanceReachesTheRateAndNoLessDoes() {
        const StepCosts stepCosts = costs(0.1);
        const double needed = neededAcceptance({.rate = 1.2, .passCost = 0.5}, stepCosts, 15);
        QVERIFY(needed > 0.5 && needed < 1.0);
        QVERIFY(bestChain({needed, 0.5}, stepCosts, 15).rate() >= 1.2);
        QVERIFY(bestChain({needed - 0.01, 0.5}, stepCosts, 15).rate() < 1.2);
        QCOMPARE(neededAcceptance({.rate = 1.2, .passCost = 1.0}, stepCosts, 15), 2.0);
    }

    void whatADrafterSavesIsSavedInTheSlowRoundsOnly() {
        RoundRates rounds;
        QCOMPARE(rounds.savedShare(2.0), 0.5); // nothing is known: against plain steps
        for (int i = 0; i < 2000; ++i)
            rounds.add(i % 2 == 0 ? 1.0 : 3.0, 1.0);
        QVERIFY(std::abs(rounds.savedShare(2.0) - 0.25) < 0.01);
        QCOMPARE(rounds.savedShare(1.0), 0.0);
    }

    void littleInfluenceIsWorthASearch() {
        Case tried;
        QVERIFY(tried.isWorthIt());
        QCOMPARE(tried.next().kind, std::string_view("influence"));
    }

    void aStreamIsFollowedOnceForARatioBehindLeastInfluence() {
        Case tried;
        QVERIFY(tried.isWorthIt());
        QCOMPARE(tried.search.streamLayers(kSkips), 0); // first the set that costs nothing to make
        QCOMPARE(tried.next().kind, std::string_view("influence"));
        const int layers = tried.search.streamLayers(kSkips);
        QVERIFY(layers > 0 && layers <= kLayers - 2);
        QCOMPARE(tried.search.streamLayers({.skips = false, .exits = true}), 0);
        LayerPlan plan = LayerPlan::full(kLayers);
        plan.mlp[3] = SublayerAction::Skip;
        tried.search.suggestStream(plan);
        QCOMPARE(tried.search.streamLayers(kSkips), 0);
        const Candidate streamed = tried.next();
        QCOMPARE(streamed.kind, std::string_view("stream"));
        QVERIFY(streamed.plan == plan && streamed.ratio > 0.0);
        QCOMPARE(tried.next().kind, std::string_view("random"));
    }

    void aStreamWithoutAnAnswerIsNotFollowedAgain() {
        Case tried;
        QVERIFY(tried.isWorthIt());
        tried.next();
        QVERIFY(tried.search.streamLayers(kSkips) > 0);
        tried.search.suggestStream(std::nullopt);
        QCOMPARE(tried.search.streamLayers(kSkips), 0);
        QCOMPARE(tried.next().kind, std::string_view("random"));
    }

    void muchInfluenceIsNot() {
        Case tried;
        tried.influence.assign(2 * kLayers, 0.5);
        QVERIFY(!tried.isWorthIt());
        QVERIFY(tried.search.couldPay(kSkips)); // but a probe may be
    }

    void whatCannotPayAtAnyAcceptanceIsNotEvenProbed() {
        Case tried;
        tried.stepCosts = costs(1.0);
        QVERIFY(!tried.isWorthIt());
        QVERIFY(!tried.search.couldPay(kSkips));
        QVERIFY(!tried.search.couldPay({.skips = false, .exits = true}));
    }

    void whatFreeDraftsGiveAlreadyIsNotLookedFor() {
        Case tried;
        for (int i = 0; i < 1000; ++i)
            tried.rounds.add(3.5, 1.0);
        QVERIFY(!tried.isWorthIt());
    }

    void aStoredSetIsTriedFirst() {
        Case tried;
        QVERIFY(tried.isWorthIt());
        LayerPlan plan = LayerPlan::full(kLayers);
        plan.mlp[4] = SublayerAction::Skip;
        tried.search.suggest(plan);
        const Candidate first = tried.next();
        QCOMPARE(first.kind, std::string_view("stored"));
        QVERIFY(first.plan == plan);
        QVERIFY(tried.next().kind != "stored");
    }

    void aStoredSetThatMayNotBeTriedIsNoReasonToTryOthers() {
        Case tried;
        QVERIFY(tried.isWorthIt());
        LayerPlan plan = LayerPlan::full(kLayers);
        plan.mlp[4] = SublayerAction::Skip;
        tried.search.suggest(plan);
        QVERIFY(tried.search.canTrySuggestion(kSkips));
        QVERIFY(!tried.search.canTrySuggestion({.skips = false, .exits = true}));
        tried.stepCosts = costs(1.0);
        QVERIFY(!tried.isWorthIt());
        QVERIFY(!tried.search.canTrySuggestion(kSkips)); // nor may what cannot pay
    }

    void failuresEndTheSearchAndTimeBringsItBackOnce() {
        Case tried;
        int trials = 0;
        while (tried.isWorthIt() && trials < 100) {
            tried.search.learn(tried.next(), 0.3, false);
            ++trials;
        }
        qInfo("%d trials", trials);
        QVERIFY(trials >= 1 && trials < 20);
        tried.elapsed += 3000.0;
        QVERIFY(!tried.isWorthIt()); // not yet
    }

    void aSuccessLeavesNothingToLookFor() {
        Case tried;
        QVERIFY(tried.isWorthIt());
        tried.search.learn(tried.next(), 1.0, true);
        tried.search.judge({.influence = tried.influence,
                            .costs = tried.stepCosts,
                            .rounds = tried.rounds,
                            .presentRate = 3.5,
                            .leastRate = 1.02,
                            .maxNodes = 15,
                            .elapsed = tried.elapsed});
        QVERIFY(!tried.search.isWorthIt(kTrialCost));
    }
};

QTEST_GUILESS_MAIN(AutoSearchTest)
#include "auto_search_test.moc"
