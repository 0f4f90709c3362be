// SPDX-License-Identifier: Apache-2.0
// DEL's numbers on tables made by hand: counts, acceptance, tokens per layer and per millisecond,
// thresholds, and how often exits are compared. No model.
#include "plugins/del/choice/exit_policy.h"
#include "plugins/del/choice/round_costs.h"
#include "tests/support/models/tiny_model.h"

#include <QTest>

#include <cmath>

using namespace del;
using engine::DecodeStep;
using engine::ModelConfig;

namespace {

constexpr int kLayers = 12;

ModelConfig config() { return support::layeredConfig(kLayers); }

ShadowToken match(double confidence) {
    return {.token = 1, .confidence = confidence, .agreement = 1.0};
}

ShadowToken mismatch(double confidence) { return {.token = 2, .confidence = confidence}; }

bool isNear(double found, double expected) { return std::abs(found - expected) < 1e-12; }

/// Counts of one exit behind one round.
ExitCounts countsOf(const std::vector<ShadowToken>& round) {
    ExitStatistics statistics(kLayers, 0.95);
    statistics.record(3, round);
    return statistics.counts(3);
}

/// A machine on which a layer of one row takes 1 ms and the head as told; a row more costs a tenth.
struct Machine {
    double headMs = 2.0;

    double head(int rows) const { return headMs * rowFactor(rows); }

    double draft(const ExitOffer& draft) const {
        return draft.steps * (draft.exit + headMs) + draft.exit;
    }

    double verify(int exit, int rows) const { return (kLayers - exit + headMs) * rowFactor(rows); }

    static double rowFactor(int rows) { return 1.0 + 0.1 * (rows - 1); }
};

RoundCosts measured(const Machine& machine) {
    RoundCosts costs(config());
    for (int i = 0; i < 200; ++i) {
        costs.recordHead(1, machine.head(1));
        costs.recordVerify(0, 1, machine.verify(0, 1));
        const ExitOffer draft{1 + i % 6, 1 + i % 4};
        costs.recordDraft(draft, machine.draft(draft));
        costs.recordVerify(
            draft.exit, draft.steps + 1, machine.verify(draft.exit, draft.steps + 1));
    }
    return costs;
}

DelSettings timeSettings(double share) {
    DelSettings settings;
    settings.isByTime = true;
    settings.compareShare = share;
    return settings;
}

DecodeStep plainRound(double ms) {
    DecodeStep step;
    step.tokens = {1};
    step.verifiedRows = 1;
    step.verifyMs = ms;
    return step;
}

/// A policy by time that has measured plain rounds and the head of the machine.
std::unique_ptr<ExitPolicy> timePolicyThatKnows(const Machine& machine) {
    auto policy = makeTimePolicy(config());
    policy->configure(timeSettings(0.0));
    for (int i = 0; i < 100; ++i) {
        policy->learnHead(1, machine.head(1));
        policy->learnRound(plainRound(machine.verify(0, 1)), 0);
    }
    return policy;
}

} // namespace

class DelArithmeticTest : public QObject {
    Q_OBJECT

private slots:

    void theRecursionIsTheExplicitSum() {
        const double w = 0.9;
        ExitStatistics statistics(kLayers, w);
        const std::vector<std::vector<ShadowToken>> rounds = {
            {match(0.9), match(0.8), mismatch(0.3)},
            {mismatch(0.5)},
            {match(0.7)},
            {match(0.6), mismatch(0.2)}};
        for (const auto& round : rounds)
            statistics.record(5, round);
        double matches = 0.0;
        double mismatches = 0.0;
        double matchConfidence = 0.0;
        double mismatchConfidence = 0.0;
        for (std::size_t i = 0; i < rounds.size(); ++i)
            for (const ShadowToken& shadow : rounds[i]) {
                const double weight = std::pow(w, static_cast<double>(rounds.size() - 1 - i));
                (shadow.agreement > 0.5 ? matches : mismatches) += weight;
                (shadow.agreement > 0.5 ? matchConfidence : mismatchConfidence) +=
                    weight * shadow.confidence;
            }
        const ExitCounts& counts = statistics.counts(5);
        QVERIFY(isNear(counts.matches, matches));
        QVERIFY(isNear(counts.mismatches, mismatches));
        QVERIFY(isNear(counts.matchConfidence, matchConfidence));
        QVERIFY(isNear(counts.mismatchConfidence, mismatchConfidence));
        QCOMPARE(statistics.known(), std::vector<int>{5});
        statistics.clear();
        QVERIFY(!statistics.isKnown(5));
        QCOMPARE(statistics.counts(5).alpha(), 0.0);
    }

    void aRoundOfOneRowThatIsWrong() { // u = 0
        const ExitCounts counts = countsOf({mismatch(0.4)});
        QCOMPARE(counts.alpha(), 0.0);
        QCOMPARE(counts.mismatches, 1.0);
        QCOMPARE(dynamicThreshold(counts, false), 1.0); // cM = 0
        QVERIFY(std::isnan(dynamicThreshold(counts, true)));
    }

    void allRowsMatch() { // cX = 0
        const ExitCounts counts = countsOf({match(0.8), match(0.6), match(1.0)});
        QCOMPARE(counts.alpha(), 1.0);
        QVERIFY(isNear(dynamicThreshold(counts, false), 0.4));
        QVERIFY(std::isnan(dynamicThreshold(counts, true)));
    }

    void noRowMatches() { // cM = 0
        const ExitCounts counts = countsOf({mismatch(0.8), mismatch(0.6)});
        QCOMPARE(counts.alpha(), 0.0);
        QCOMPARE(dynamicThreshold(counts, false), 1.0);
        QVERIFY(std::isnan(dynamicThreshold(counts, true)));
    }

    void theThresholdLiesBetweenBothMeans() {
        const ExitCounts counts = countsOf({match(0.9), match(0.7), mismatch(0.2), mismatch(0.4)});
        QCOMPARE(counts.alpha(), 0.5);
        QVERIFY(isNear(dynamicThreshold(counts, false), (0.8 + 0.3) / 2.0));
        QVERIFY(isNear(dynamicThreshold(counts, true), (0.8 + 0.3) / 2.0));
        const ExitCounts sure = countsOf({match(1.0), mismatch(1.0)});
        QVERIFY(isNear(dynamicThreshold(sure, false), 0.99));
        QVERIFY(isNear(dynamicThreshold(sure, true), 1.0));
    }

    /// The formula that arXiv 2504.05598 prints makes the drafting exit always right.
    void thePrintedDenominatorIsTheIndexOfTheMismatch() {
        ExitStatistics mismatched(kLayers, 0.95);
        mismatched.record(3, std::vector{match(0.9), match(0.9), mismatch(0.2)}, 2);
        QCOMPARE(mismatched.counts(3).alpha(), 1.0);
        QCOMPARE(mismatched.counts(3).mismatches, 0.0);
        ExitStatistics matched(kLayers, 0.95);
        matched.record(3, std::vector{match(0.9), match(0.9), match(0.2)}, 2);
        QCOMPARE(matched.counts(3).alpha(), 1.5);
        QVERIFY(dynamicThreshold(matched.counts(3), false) <= 0.99);
    }

    void partsOfALawCountAsPartsOfAToken() {
        const ExitCounts counts = countsOf({{.token = 1, .confidence = 0.8, .agreement = 0.25}});
        QCOMPARE(counts.alpha(), 0.25);
        QVERIFY(isNear(counts.matchConfidence, 0.2));
        QVERIFY(isNear(counts.mismatchConfidence, 0.6));
    }

    void tokensPerLayerIsTheSumOverTheLoads() {
        QCOMPARE(expectedTokens(1.0, 4), 5.0); // the closed form is 0/0
        QCOMPARE(expectedTokens(0.0, 4), 1.0);
        QVERIFY(isNear(expectedTokens(0.5, 3), 1.875));
        QVERIFY(isNear(tokensPerLayer(1.0, {3, 4}, kLayers), 5.0 / (4 * 3 + kLayers)));
        QVERIFY(isNear(tokensPerLayer(0.5, {2, 3}, kLayers), 1.875 / (3 * 2 + kLayers)));
        for (const double alpha : {0.0, 0.3, 1.0}) // no draft: vanilla's eTPL, whatever the exit
            for (const int exit : {1, 5, 11})
                QVERIFY(isNear(tokensPerLayer(alpha, {exit, 0}, kLayers), 1.0 / kLayers));
    }

    void theBestExitIsTheFirstOfEqualsWithTheFewestSteps() {
        const std::vector<int> exits = {1, 2, 3};
        const auto flat = [](int, int) { return 1.0; };
        const auto offers = bestOfEach(exits, 18, flat);
        QCOMPARE(offers.size(), std::size_t{3});
        QCOMPARE(bestOf(offers).exit, 1);
        QCOMPARE(bestOf(offers).steps, 0);
        const auto peaks = [](int exit, int steps) {
            return exit >= 2 && (steps == 4 || steps == 7) ? 2.0 : 1.0;
        };
        const ExitOffer best = bestOf(bestOfEach(exits, 18, peaks));
        QCOMPARE(best.exit, 2);
        QCOMPARE(best.steps, 4);
        QCOMPARE(bestOf(bestOfEach(exits, 3, peaks)).steps, 0); // no further than it may look
        QCOMPARE(bestOf({}).steps, 0);
    }

    /// By hand: L = 12, exit 2 with alpha .5, exit 4 with alpha .9.
    void theLayerPolicyWeighsAcceptanceAgainstLayers() {
        const auto policy = makeLayerPolicy(config());
        policy->configure({});
        std::vector<ShadowToken> nine(9, match(0.9));
        nine.push_back(mismatch(0.1));
        ExitStatistics statistics(kLayers, 1.0);
        statistics.record(2, std::vector{match(0.9), mismatch(0.5)});
        statistics.record(4, nine);
        const auto offers = policy->offers(statistics);
        QCOMPARE(offers.size(), std::size_t{2});
        QVERIFY(isNear(offers[0].value, std::max(1.5 / 14.0, 1.75 / 16.0)));
        QCOMPARE(offers[0].steps, 2);
        double best = 0.0;
        int steps = 0;
        for (int k = 0; k <= 18; ++k)
            if (const double value = (1.0 - std::pow(0.9, k + 1)) / 0.1 / (4.0 * k + 12.0);
                value > best + 1e-12) {
                best = value;
                steps = k;
            }
        QVERIFY(isNear(offers[1].value, best));
        QCOMPARE(offers[1].steps, steps);
        QCOMPARE(bestOf(offers).exit, 4);
        const auto rule = policy->stopRule(statistics, offers[1]);
        const double tau = (0.9 + 0.1) / 2.0;
        QVERIFY(!rule->stopsAfter(tau + 0.001, 1));
        QVERIFY(rule->stopsAfter(tau - 0.001, 1));
        QVERIFY(rule->stopsAfter(1.0, 18));
    }

    void anExitThatNeverMatchedIsNeverChosenOverOneThatDid() {
        const auto policy = makeLayerPolicy(config());
        policy->configure({});
        ExitStatistics statistics(kLayers, 0.95);
        statistics.record(1, std::vector{mismatch(0.9), mismatch(0.9)});
        statistics.record(2, std::vector{match(0.9), match(0.9)});
        QCOMPARE(bestOf(policy->offers(statistics)).exit, 2);
        ExitStatistics hopeless(kLayers, 0.95);
        hopeless.record(1, std::vector{mismatch(0.9)});
        hopeless.record(2, std::vector{mismatch(0.9)});
        QCOMPARE(bestOf(policy->offers(hopeless)).steps, 0);
    }

    void withoutAThresholdADraftRunsToItsEnd() {
        DelSettings settings;
        settings.isOfficialNan = true;
        const auto policy = makeLayerPolicy(config());
        policy->configure(settings);
        ExitStatistics statistics(kLayers, 0.95);
        statistics.record(2, std::vector{match(0.9)});
        const auto rule = policy->stopRule(statistics, {2, 3, 0.1});
        QVERIFY(!rule->stopsAfter(0.0, 17));
        QVERIFY(rule->stopsAfter(0.0, 18));
    }

    void aChosenLengthNeedsNoConfidence() {
        DelSettings settings;
        settings.isLengthChosen = true;
        const auto policy = makeLayerPolicy(config());
        policy->configure(settings);
        ExitStatistics statistics(kLayers, 0.95);
        statistics.record(2, std::vector{match(0.9), mismatch(0.8)});
        const auto rule = policy->stopRule(statistics, {2, 3, 0.1});
        QVERIFY(!rule->stopsAfter(0.0, 2));
        QVERIFY(rule->stopsAfter(1.0, 3));
    }

    void theCodeLooksOneStepLessFar() {
        DelSettings settings;
        const auto policy = makeLayerPolicy(config());
        ExitStatistics statistics(kLayers, 0.95);
        statistics.record(1, std::vector{match(0.9)}); // alpha 1 at one layer: as many as allowed
        policy->configure(settings);
        QCOMPARE(policy->offers(statistics).front().steps, 18);
        settings.rule = DelRule::Code;
        policy->configure(settings);
        QCOMPARE(policy->offers(statistics).front().steps, 17);
    }

    void aFixedExitIsTheOnlyOneComparedAndOffered() {
        DelSettings settings;
        settings.fixedExit = 7;
        const auto policy = makeLayerPolicy(config());
        policy->configure(settings);
        QCOMPARE(policy->comparedExits(1, true), std::vector<int>{7});
        ExitStatistics statistics(kLayers, 0.95);
        statistics.record(2, std::vector{match(0.9)}); // of before it was fixed
        const auto unknown = policy->offers(statistics);
        QCOMPARE(unknown.size(), std::size_t{1});
        QCOMPARE(unknown.front().exit, 7);
        QCOMPARE(unknown.front().steps, 0);
        statistics.record(7, std::vector{match(0.9), match(0.8), match(0.8), mismatch(0.3)});
        QCOMPARE(policy->offers(statistics).front().exit, 7);
        QVERIFY(settings.draftsAnyway());
        settings.isLengthChosen = true;
        QVERIFY(!settings.draftsAnyway());
    }

    void aTimePolicySaysWhyItDrafts() {
        const Machine machine;
        const auto policy = timePolicyThatKnows(machine);
        ExitStatistics statistics(kLayers, 1.0);
        statistics.record(2, std::vector{match(0.9), mismatch(0.5)});
        statistics.record(3, std::vector{match(0.9), match(0.9), match(0.9), mismatch(0.1)});
        const auto offers = policy->offers(statistics);
        const auto drafted = policy->choice(statistics, offers, {3, 2, 0.0});
        QCOMPARE(drafted.drafter, std::string_view("exit"));
        QVERIFY(isNear(drafted.expectedTokens, 1.0 + 0.75 + 0.75 * 0.75));
        QVERIFY(drafted.expectedCost > 1.0 && drafted.refused.empty());
        QVERIFY(isNear(drafted.plainMs, machine.verify(0, 1)));
        const std::vector<ExitOffer> none = {{2, 0, 1.0}, {3, 0, 1.0}};
        const auto plain = policy->choice(statistics, none, {2, 0, 0.0});
        QCOMPARE(plain.drafter, std::string_view("none"));
        QCOMPARE(plain.refused, std::string_view("exit"));
        QVERIFY(isNear(plain.refusedTokens, 1.75)); // the better one's first token
        QVERIFY(plain.refusedCost > 1.0);
        QVERIFY(makeLayerPolicy(config())->choice(statistics, none, {2, 0, 0.0}).drafter.empty());
    }

    void comparedExitsAreThinnedOut() {
        QCOMPARE(thinnedExits(10, 3, 4, 32),
                 (std::vector<int>{4, 7, 8, 9, 10, 11, 12, 13, 16, 20, 24, 28}));
        QCOMPARE(thinnedExits(1, 0, 256, 32), std::vector<int>{1});
        QCOMPARE(thinnedExits(5, 0, 1, 7), (std::vector<int>{1, 2, 3, 4, 5, 6}));
    }

    void exitsAreComparedInEveryNthRound() {
        DelSettings settings;
        settings.compareEvery = 3;
        const auto policy = makeLayerPolicy(config());
        policy->configure(settings);
        QVERIFY(!policy->comparedExits(1, true).empty());
        std::vector<bool> compared;
        for (int round = 0; round < 6; ++round)
            compared.push_back(!policy->comparedExits(1, false).empty());
        QCOMPARE(compared, (std::vector<bool>{false, false, true, false, false, true}));
    }

    void beforeAnythingIsMeasuredWeightsAreTheCosts() {
        const RoundCosts costs(config());
        const double layer = 48.0 * 12 * 2 * (4 + 2) + 3.0 * 48 * 80;
        const double head = 48.0 * 160;
        const double all = kLayers * layer + head;
        QVERIFY(isNear(costs.plainMs(), 1.0));
        QVERIFY(isNear(costs.draftMs(4), (4 * layer + head) / all));
        QVERIFY(isNear(costs.headMs(1), head / all));
        QVERIFY(isNear(costs.verifyMs(0, 1), 1.0));
        QVERIFY(isNear(costs.roundMs(4, 0), 1.0));
        QVERIFY(isNear(costs.verifyMs(4, 1), 1.0)); // early and late layers are all of them
    }

    void measuredCostsAreTheMachines() {
        const Machine machine;
        const RoundCosts costs = measured(machine);
        QVERIFY(std::abs(costs.plainMs() - 14.0) < 0.3);
        for (const int exit : {1, 3, 6})
            QVERIFY(std::abs(costs.draftMs(exit) - (exit + 2.0)) < 0.3);
        for (const int rows : {2, 3, 5}) {
            const double expected = 4.0 + machine.verify(4, rows);
            QVERIFY(std::abs(costs.verifyMs(4, rows) - expected) < 0.06 * expected);
        }
        QVERIFY(std::abs(costs.roundMs(3, 2) - (2 * 5.0 + 3.0 + machine.verify(3, 3))) < 1.0);
    }

    void tokensPerMillisecondCountTheHead() {
        const auto best = [](double headMs, double alpha) {
            const RoundCosts costs = measured({headMs});
            const std::vector<int> exits = {2};
            return bestOf(bestOfEach(exits, 18, [&](int exit, int steps) {
                return tokensPerMs(alpha, {exit, steps}, costs, 0.0);
            }));
        };
        QVERIFY(best(0.1, 0.8).steps >= 3);
        QVERIFY(best(6.0, 0.8).steps < best(0.1, 0.8).steps);
        QCOMPARE(best(6.0, 0.3).steps, 0); // .3 of a token is not worth 8 ms of 18
        const RoundCosts costs = measured({2.0});
        QVERIFY(isNear(tokensPerMs(0.5, {2, 1}, costs, 5.0), 1.5 / (costs.roundMs(2, 1) + 5.0)));
    }

    void aDraftGoesOnWhileItsNextTokenIsWorthItsTime() {
        const Machine machine;
        const auto policy = timePolicyThatKnows(machine);
        ExitStatistics statistics(kLayers, 0.95);
        std::vector<ShadowToken> shadows(9, match(0.95));
        shadows.push_back(mismatch(0.2));
        for (int i = 0; i < 30; ++i) {
            statistics.record(2, shadows);
            policy->learnShadows(2, shadows);
        }
        const auto offers = policy->offers(statistics);
        QCOMPARE(offers.front().exit, 2);
        QVERIFY(offers.front().steps >= 2);
        const auto rule = policy->stopRule(statistics, offers.front());
        QVERIFY(!rule->stopsAfter(0.95, 1));
        QVERIFY(rule->stopsAfter(0.2, 2));   // such tokens were never right
        QVERIFY(!rule->stopsAfter(0.95, 1)); // another draft
        QVERIFY(rule->stopsAfter(0.95, 18));
    }

    void comparingTakesItsShareOfTheTime() {
        const Machine machine;
        for (const double share : {0.02, 0.1}) {
            const auto policy = makeTimePolicy(config());
            policy->configure(timeSettings(share));
            policy->comparedExits(1, true);
            double roundsMs = 0.0;
            double comparingMs = 0.0;
            for (int round = 0; round < 3000; ++round) {
                const std::size_t exits = policy->comparedExits(1, false).size();
                if (exits > 0) {
                    const double ms = machine.head(static_cast<int>(exits));
                    policy->learnHead(static_cast<int>(exits), ms);
                    comparingMs += ms;
                }
                const double ms = machine.verify(0, 1);
                policy->learnRound(plainRound(ms), 0);
                roundsMs += ms;
            }
            QVERIFY(comparingMs <= share * roundsMs);
            QVERIFY(comparingMs > 0.9 * share * roundsMs);
        }
    }

    void aPromptIsComparedForAFewPlainStepsAtMost() {
        const Machine machine;
        const auto policy = makeTimePolicy(config());
        policy->configure(timeSettings(0.05));
        for (int round = 0; round < 50; ++round) {
            policy->learnRound(plainRound(machine.verify(0, 1)), 0);
            policy->learnHead(1 + round % 32, machine.head(1 + round % 32));
        }
        // Eleven exits at 12 and more rows: five passes of 32 rows, 2 * 4.1 ms each, for 28 ms.
        QCOMPARE(policy->contextRows(3, 11), 3);
        const int rows = policy->contextRows(32, 11);
        QVERIFY(rows > 3 && rows < 12);
        QCOMPARE(makeLayerPolicy(config())->contextRows(32, 11), 32);
    }

    void aPassOfTheHeadIsAsDearAsTheLineThroughThoseMeasured() {
        RowLine line;
        QVERIFY(!line.isMeasured());
        line.record(32, 10.0);
        QVERIFY(isNear(line.at(32), 10.0));
        QVERIFY(line.at(1) < 5.0 && line.at(1) > 0.0); // a guess
        for (int i = 0; i < 40; ++i) {
            line.record(32, 3.0 + 32 * 0.5);
            line.record(7, 3.0 + 7 * 0.5);
        }
        QVERIFY(std::abs(line.at(1) - 3.5) < 0.4);
        QVERIFY(std::abs(line.at(20) - 13.0) < 0.4);
    }

    void whereTimeAllowsAllExitsAreComparedInEveryRound() {
        const auto policy = makeTimePolicy(config());
        policy->configure(timeSettings(1.0));
        for (int round = 0; round < 20; ++round)
            policy->learnRound(plainRound(14.0), 0);
        QCOMPARE(policy->comparedExits(6, false).size(), std::size_t{kLayers - 1});
    }
};

QTEST_APPLESS_MAIN(DelArithmeticTest)
#include "del_arithmetic_test.moc"
