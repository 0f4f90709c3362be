// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/statistics/skip_set_memory.h"
#include "engine/experiments/offline_search.h"
#include "engine/experiments/saved_plans.h"
#include "engine/model/plain/plain_backend.h"
#include "engine/model/weight_share.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/transformers/wrapping_transformer.h"

#include <QTest>

#include <cmath>
#include <memory>
#include <random>

using namespace engine;
using support::registry;
using test_support::TemporaryFolder;

namespace {

constexpr int kLayers = 8;
/// Layers whose sublayers add next to nothing, so that the right plan is known; not those of a
/// probe set.
constexpr std::array kSilentLayers = {0, 3, 4, 7};

std::unique_ptr<Transformer> plantedModel() {
    const ModelConfig config = support::layeredConfig(kLayers);
    support::MemoryWeights weights = support::randomWeights(config, 4);
    for (const int layer : kSilentLayers)
        support::quietenLayer(weights, layer, 1e-3F);
    return makePlainTransformer(config, weights, {}).value();
}

Transformer& model() {
    static const std::unique_ptr<Transformer> made = plantedModel();
    return *made;
}

/// Three prompts; drafts of six tokens whatever their confidence, which random weights leave low.
OfflineSearchTask task(int iterations) {
    std::mt19937 random(6);
    OfflineSearchTask made{.decoders = registry(), .transformer = model()};
    for (int prompt = 0; prompt < 3; ++prompt) {
        std::vector<TokenId> ids(10);
        for (TokenId& id : ids)
            id = static_cast<TokenId>(random() % 160);
        made.prompts.push_back(std::move(ids));
    }
    made.options.objective = SearchObjective::ExpectedSpeed;
    made.options.iterations = iterations;
    made.options.maxTokens = 15;
    made.options.settings = {{"th", 0.0}, {"adapt", 0.0}, {"max_draft", 6.0}};
    return made;
}

LayerPlan plantedPlan() {
    LayerPlan plan = LayerPlan::full(kLayers);
    for (const int layer : kSilentLayers)
        plan.attention[static_cast<std::size_t>(layer)] =
            plan.mlp[static_cast<std::size_t>(layer)] = SublayerAction::Skip;
    return plan;
}

/// Counts passes, and those of them for which nobody has the turn.
class TurnWatcher final : public support::WrappingTransformer {
public:
    using WrappingTransformer::WrappingTransformer;

    Result<void>
    forwardInto(const ForwardRequest& request, KvCache& cache, ForwardResult& result) override {
        ++passes;
        outside += turn.expired() ? 1 : 0;
        return inner().forwardInto(request, cache, result);
    }

    std::weak_ptr<void> turn;
    int passes = 0;
    int outside = 0;
};

} // namespace

class OfflineSearchTest : public QObject {
    Q_OBJECT

private slots:
    void theScoreIsTokensPerVanillaStep();
    void aPlantedRedundancyIsFound_data();
    void aPlantedRedundancyIsFound();
    void theSameSeedGivesTheSamePlans();
    void probeSetsComeFirst();
    void tokensPerSecondGoesByTheClock();
    void everyPassIsMadeInATurnThatEndsBeforeTheNext();
    void aStopLeavesWhatWasFound();
    void aStopBeforeTheFirstTrialIsCancelled();
    void theBestPlanGoesIntoTheMemoryAndAFile();
    void tasksThatMakeNoSenseAreRefused();
    void anotherModelsPlanIsRefused();
};

void OfflineSearchTest::theScoreIsTokensPerVanillaStep() {
    OfflineSearchTask counted = task(0);
    const PlanMeasurement full = measurePlan(counted, LayerPlan::full(kLayers)).value();
    // Seven tokens a round, then the one that was left: 6 + 6 + 0 draft passes, all accepted.
    QCOMPARE(full.tokens, 3 * 15);
    QCOMPARE(full.steps, 3 * 3);
    QCOMPARE(full.draftSteps, 3 * 12);
    QCOMPARE(full.accepted, full.draftSteps);
    QCOMPARE(full.verifiedRows, full.steps + full.draftSteps);
    QCOMPARE(full.score, 1.0); // every token cost one full pass, whoever made it

    const LayerPlan plan = plantedPlan();
    const PlanMeasurement planted = measurePlan(counted, plan).value();
    const double share = weightShare(plan, model().config());
    QVERIFY(share > 0.5 && share < 0.53);
    QVERIFY(std::abs(planted.score -
                     planted.tokens / (planted.steps + share * planted.draftSteps)) < 1e-12);
    QVERIFY2(planted.score > 1.3, qPrintable(QString::number(planted.score)));

    counted.options.rowCost = 0.1;
    const PlanMeasurement withRows = measurePlan(counted, plan).value();
    QVERIFY(std::abs(withRows.score -
                     planted.tokens / (planted.steps + share * planted.draftSteps +
                                       0.1 * (planted.verifiedRows - planted.steps))) < 1e-12);
}

void OfflineSearchTest::aPlantedRedundancyIsFound_data() {
    QTest::addColumn<int>("maximiser");
    QTest::addColumn<int>("iterations");
    QTest::newRow("in the box") << static_cast<int>(BayesianMaximiser::ContinuousTopK) << 100;
    QTest::newRow("among sets") << static_cast<int>(BayesianMaximiser::Discrete) << 60;
}

void OfflineSearchTest::aPlantedRedundancyIsFound() {
    QFETCH(int, maximiser);
    QFETCH(int, iterations);
    OfflineSearchTask planted = task(iterations);
    planted.options.maximiser = static_cast<BayesianMaximiser>(maximiser);
    const auto found = searchOffline(planted);
    QVERIFY2(found, found ? "" : found.error().message.c_str());
    const OfflineTrial& best = found.value().bestTrial();
    int silent = 0;
    int loud = 0;
    for (int layer = 0; layer < kLayers; ++layer) {
        const bool isSilent =
            std::find(kSilentLayers.begin(), kSilentLayers.end(), layer) != kSilentLayers.end();
        (isSilent ? silent : loud) +=
            (best.plan.runsAttention(layer) ? 0 : 1) + (best.plan.runsMlp(layer) ? 0 : 1);
    }
    const double probe = found.value().trials[2].measured.score;
    qInfo("best %.3f at trial %d, uniform %.3f, planted %.3f; skips %d of 8 silent, %d loud",
          best.measured.score,
          best.index,
          probe,
          measurePlan(planted, plantedPlan()).value().score,
          silent,
          loud);
    QVERIFY(best.measured.score > 1.4); // no skipping: 1
    QVERIFY(best.measured.score > probe + 0.15);
    QVERIFY(silent >= 7);
    QVERIFY(loud == 0);
}

void OfflineSearchTest::theSameSeedGivesTheSamePlans() {
    const auto plansOf = [](std::uint64_t seed) {
        OfflineSearchTask seeded = task(12);
        seeded.options.seed = seed;
        std::vector<LayerPlan> plans;
        std::vector<double> scores;
        const OfflineSearchResult result = searchOffline(seeded).value();
        for (const OfflineTrial& trial : result.trials) {
            plans.push_back(trial.plan);
            scores.push_back(trial.measured.score);
        }
        return std::pair(plans, scores);
    };
    QVERIFY(plansOf(1) == plansOf(1));
    QVERIFY(plansOf(1).first != plansOf(2).first);
}

void OfflineSearchTest::probeSetsComeFirst() {
    std::vector<OfflineTrial> told;
    OfflineSearchTask watched = task(2);
    watched.onTrial = [&](const OfflineTrial& trial, const OfflineTrial& best) {
        told.push_back(trial);
        for (const OfflineTrial& earlier : told)
            QVERIFY(best.measured.score >= earlier.measured.score);
    };
    const OfflineSearchResult result = searchOffline(watched).value();
    QVERIFY(result.isComplete);
    QCOMPARE(result.trials.size(), std::size_t{5});
    QCOMPARE(told.size(), result.trials.size());
    const std::vector<LayerPlan> probes = probePlans(kLayers);
    QCOMPARE(probes.size(), std::size_t{3});
    for (std::size_t i = 0; i < 5; ++i) {
        QCOMPARE(result.trials[i].index, static_cast<int>(i) + 1);
        QCOMPARE(result.trials[i].kind, i < 3 ? TrialKind::Start : TrialKind::Bayesian);
        QVERIFY(i >= 3 || result.trials[i].plan == probes[i]);
        QVERIFY(probes[i % 3] != LayerPlan::full(kLayers));
    }
}

void OfflineSearchTest::tokensPerSecondGoesByTheClock() {
    OfflineSearchTask timed = task(1);
    timed.options.objective = SearchObjective::TokensPerSecond;
    const OfflineSearchResult result = searchOffline(timed).value();
    QCOMPARE(result.trials.size(), std::size_t{4});
    for (const OfflineTrial& trial : result.trials) {
        QVERIFY(trial.measured.seconds > 0.0);
        QCOMPARE(trial.measured.score, trial.measured.tokens / trial.measured.seconds);
    }
}

void OfflineSearchTest::everyPassIsMadeInATurnThatEndsBeforeTheNext() {
    const OfflineSearchTask usual = task(1);
    TurnWatcher watcher(model());
    OfflineSearchTask shared{.decoders = usual.decoders,
                             .transformer = watcher,
                             .prompts = usual.prompts,
                             .options = usual.options};
    shared.options.objective = SearchObjective::TokensPerSecond; // it warms up as well
    int turns = 0;
    int overlapping = 0;
    shared.takeTurn = [&] {
        ++turns;
        overlapping += watcher.turn.expired() ? 0 : 1;
        const std::shared_ptr<void> turn = std::make_shared<int>();
        watcher.turn = turn;
        return turn;
    };
    std::vector<int> turnsAtTrials;
    shared.onTrial = [&](const OfflineTrial&, const OfflineTrial&) {
        QVERIFY(watcher.turn.expired());
        turnsAtTrials.push_back(turns);
    };
    const auto found = searchOffline(shared);
    QVERIFY2(found, found ? "" : found.error().message.c_str());
    QCOMPARE(found.value().trials.size(), std::size_t{4});
    QVERIFY(watcher.passes > 0);
    QCOMPARE(watcher.outside, 0);
    QCOMPARE(overlapping, 0);
    QCOMPARE(turnsAtTrials.size(), std::size_t{4});
    for (std::size_t i = 1; i < turnsAtTrials.size(); ++i) // a prompt is a part, each round another
        QVERIFY(turnsAtTrials[i] - turnsAtTrials[i - 1] >= 3 * 2);
}

void OfflineSearchTest::aStopLeavesWhatWasFound() {
    std::stop_source source;
    OfflineSearchTask stopped = task(1000);
    stopped.stop = source.get_token();
    stopped.onTrial = [&](const OfflineTrial& trial, const OfflineTrial&) {
        if (trial.index == 4)
            source.request_stop();
    };
    const auto found = searchOffline(stopped);
    QVERIFY(found.hasValue());
    QVERIFY(!found.value().isComplete);
    QCOMPARE(found.value().trials.size(), std::size_t{4});
}

void OfflineSearchTest::aStopBeforeTheFirstTrialIsCancelled() {
    std::stop_source source;
    source.request_stop();
    OfflineSearchTask stopped = task(3);
    stopped.stop = source.get_token();
    QCOMPARE(searchOffline(stopped).error().code, ErrorCode::Cancelled);
    QCOMPARE(measurePlan(stopped, plantedPlan()).error().code, ErrorCode::Cancelled);
}

void OfflineSearchTest::theBestPlanGoesIntoTheMemoryAndAFile() {
    const OfflineSearchResult result = searchOffline(task(3)).value();
    const LayerPlan& best = result.bestTrial().plan;
    const TemporaryFolder folder;

    SkipSetMemory memory(folder.path(), "0123456789abcdef0123456789abcdef", kLayers);
    const StoredSkipSet stored{.set = skipSetOf(best), .decoder = "self_sd"};
    QVERIFY(memory.store("code", stored).hasValue());
    auto decoder = registry().make(
        "self_sd", {.transformer = model(), .contextLength = 64, .memory = &memory});
    const std::vector<TokenId> prompt = {1, 2, 3};
    QVERIFY(decoder.value()->begin({.tokens = prompt, .task = "code"}, {}).hasValue());
    const DecodeStep step = decoder.value()->step().value();
    QVERIFY(step.search.planChanges.front().plan == best);

    const auto path = folder.path() / "set.json";
    const std::string name = "tiny_code";
    QVERIFY(savePlan(path, name, skipSetOf(best)).hasValue());
    QVERIFY(readSkipSetFile(path, kLayers, name).value() == best);
}

void OfflineSearchTest::tasksThatMakeNoSenseAreRefused() {
    const auto messageOf = [](const auto& change) {
        OfflineSearchTask changed = task(1);
        change(changed);
        const auto found = searchOffline(changed);
        return QString::fromStdString(found ? "no error" : found.error().message);
    };
    QVERIFY(messageOf([](auto& t) { t.prompts.clear(); }).contains("no prompt"));
    QVERIFY(messageOf([](auto& t) { t.prompts[1].clear(); }).startsWith("Calibration prompt 2:"));
    QVERIFY(messageOf([](auto& t) { t.prompts[2] = {160}; }).startsWith("Calibration prompt 3:"));
    QVERIFY(messageOf([](auto& t) {
                t.prompts[0].assign(498, 1);
            }).startsWith("Calibration prompt 1:"));
    QCOMPARE(messageOf([](auto& t) {
                 t.options.iterations = 0;
                 t.prompts.assign(1, std::vector<TokenId>(497, 1)); // the longest with 15 tokens
             }),
             QString("no error"));
    QVERIFY(messageOf([](auto& t) { t.options.maxTokens = 0; }).endsWith("and 0."));
    QVERIFY(messageOf([](auto& t) { t.options.decoder = "selfsd"; }).contains("\"selfsd\""));
    QVERIFY(messageOf([](auto& t) { t.options.settings["tth"] = 1.0; }).contains("\"tth\""));
}

void OfflineSearchTest::anotherModelsPlanIsRefused() {
    QCOMPARE(measurePlan(task(1), LayerPlan::full(kLayers + 1)).error().code,
             ErrorCode::InvalidInput);
}

QTEST_GUILESS_MAIN(OfflineSearchTest)
#include "offline_search_test.moc"
