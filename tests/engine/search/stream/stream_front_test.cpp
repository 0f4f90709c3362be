// SPDX-License-Identifier: Apache-2.0
// The dynamic programme on networks: what it tells of a set is what a pass under that set shows.
#include "engine/search/stream/stream_front.h"
#include "engine/search/stream/stream_path.h"
#include "tests/support/lossless/tiny_decoders.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/transformers/spy_transformer.h"

#include <QTest>

#include <algorithm>
#include <limits>

using namespace engine;

namespace {

const std::vector<TokenId> kTokens = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7};

/// A config's features in so many layers.
ModelConfig stretched(ModelConfig config, int layers) {
    const auto count = static_cast<std::size_t>(layers);
    const std::vector<int> windows = config.layerWindows;
    const std::vector<LayerRope> ropes = config.layerRopes;
    config.layerCount = layers;
    config.layerWindows.clear();
    config.layerRopes.clear();
    for (std::size_t i = 0; i < count; ++i) {
        config.layerWindows.push_back(windows[i % windows.size()]);
        if (!ropes.empty())
            config.layerRopes.push_back(ropes[i % ropes.size()]);
    }
    return config;
}

/// A network and a cache that holds kTokens, with so many free slots.
struct Filled {
    std::unique_ptr<Transformer> transformer;
    KvCache cache;

    Filled(const ModelConfig& config, unsigned seed, Position freeSlots = kStreamRows)
        : Filled(support::plainModel(config, support::randomWeights(config, seed)), freeSlots) {}

    Filled(std::unique_ptr<Transformer> made, Position freeSlots = kStreamRows)
        : transformer(std::move(made))
        , cache(support::emptyCache(*transformer,
                                    static_cast<Position>(kTokens.size()) + freeSlots)) {
        support::runChain(*transformer,
                          cache,
                          LayerPlan::full(transformer->config().layerCount),
                          kTokens,
                          kTokens.size());
    }

    std::vector<StreamPoint> front(const StreamTerms& terms) {
        return support::valueOf(streamFront(*transformer, cache, terms));
    }

    /// The stream of the newest references behind the last layer, each in a pass of one row.
    std::vector<double> streams(const LayerPlan& plan, std::size_t references) {
        HiddenRows states;
        const HandOut handOut{plan.layerCount() - 1, &states};
        const std::vector<int> parents = {-1};
        for (std::size_t i = kTokens.size() - references; i < kTokens.size(); ++i) {
            const auto layout = AttentionLayout::tree(
                static_cast<Position>(i), parents, 0, static_cast<Position>(kTokens.size()));
            const auto pass = transformer->forward({.plan = plan,
                                                    .layout = layout,
                                                    .tokens = std::span(kTokens).subspan(i, 1),
                                                    .handOuts = {&handOut, 1}},
                                                   cache);
            ENGINE_CHECK(pass.hasValue(), "a pass failed");
        }
        return support::numbersOf(states, transformer->config().hiddenSize);
    }

    double lossOf(const LayerPlan& plan, std::size_t references) {
        return streamLoss(streams(LayerPlan::full(plan.layerCount()), references),
                          streams(plan, references),
                          static_cast<int>(references)) /
               static_cast<double>(references);
    }
};

std::span<const TokenId> newest(std::size_t count) { return std::span(kTokens).last(count); }

bool areEqual(const std::vector<StreamPoint>& a, const std::vector<StreamPoint>& b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(), [](const StreamPoint& x, const StreamPoint& y) {
            return x.worth == y.worth && x.loss == y.loss && x.plan == y.plan;
        });
}

int skippedSublayers(const LayerPlan& plan) {
    return static_cast<int>(
        std::count(plan.attention.begin(), plan.attention.end(), SublayerAction::Skip) +
        std::count(plan.mlp.begin(), plan.mlp.end(), SublayerAction::Skip));
}

} // namespace

class StreamFrontTest : public QObject {
    Q_OBJECT

private slots:
    void everyFamilyGivesTheStreamsOfItsSets_data();
    void everyFamilyGivesTheStreamsOfItsSets();
    void fewSlotsGiveTheSameFrontInMorePasses();
    void theCacheBelowItsLengthStaysAsItIs();
    void theBestOfAllSetsIsNeverBeaten();
    void quietLayersAreFound();
    void budgetsThatLeaveNothingGiveNoSets();
    void cancellingEndsItBetweenPasses();
    void worthsFollowCosts();
};

void StreamFrontTest::everyFamilyGivesTheStreamsOfItsSets_data() {
    QTest::addColumn<ModelConfig>("config");
    QTest::addColumn<bool>("byLayer");
    QTest::addColumn<int>("references");
    const std::vector<std::pair<const char*, ModelConfig>> families = {
        {"llama", support::tinyConfig()},
        {"experts, no rotation", support::expertConfig()},
        {"norms around, windows", support::cappedConfig()},
        {"norms behind, experts", support::normsBehindConfig()}};
    for (const auto& [name, config] : families)
        for (const bool byLayer : {true, false})
            for (const int references : {1, 3})
                QTest::addRow("%s, %s, %d", name, byLayer ? "layers" : "sublayers", references)
                    << stretched(config, 6) << byLayer << references;
}

/// Bit for bit: the plain backend's rows do not depend on how many run at once.
void StreamFrontTest::everyFamilyGivesTheStreamsOfItsSets() {
    QFETCH(ModelConfig, config);
    QFETCH(bool, byLayer);
    QFETCH(int, references);
    const auto count = static_cast<std::size_t>(references);
    Filled model(config, 5);
    const StreamTerms terms{.items = byLayer ? StreamItems::Layers : StreamItems::Sublayers,
                            .worths = {1, 2},
                            .most = 1000,
                            .references = newest(count)};
    const auto front = model.front(terms);
    QCOMPARE(static_cast<int>(front.size()),
             streamWorth(config, terms.items, terms.worths)); // every worth from 1 on
    for (const StreamPoint& point : front) {
        QVERIFY(point.plan.runsAttention(0) && point.plan.runsMlp(0));
        QVERIFY(point.plan.runsAttention(5) && point.plan.runsMlp(5));
        int worth = 0;
        for (int layer = 1; layer < 5; ++layer) {
            worth += (point.plan.runsAttention(layer) ? 0 : 1) +
                     (point.plan.runsMlp(layer) ? 0 : (byLayer ? 1 : 2));
            QVERIFY(!byLayer || point.plan.runsAttention(layer) == point.plan.runsMlp(layer));
        }
        QCOMPARE(worth, byLayer ? 2 * point.worth : point.worth);
        QCOMPARE(point.loss, model.lossOf(point.plan, count));
    }
}

void StreamFrontTest::fewSlotsGiveTheSameFrontInMorePasses() {
    const ModelConfig config = support::layeredConfig(8);
    const StreamTerms terms{.items = StreamItems::Sublayers, .most = 9, .references = newest(2)};
    Filled roomy(config, 6);
    const auto expected = roomy.front(terms);
    QCOMPARE(expected.size(), std::size_t{9});
    for (const Position freeSlots : {1, 2, 3, 5}) {
        Filled narrow(config, 6, freeSlots);
        QVERIFY(areEqual(narrow.front(terms), expected));
    }
}

void StreamFrontTest::theCacheBelowItsLengthStaysAsItIs() {
    const ModelConfig config = support::layeredConfig(6);
    Filled model(config, 7);
    support::SpyTransformer spy(*model.transformer);
    const auto front = streamFront(
        spy, model.cache, {.items = StreamItems::Layers, .most = 3, .references = newest(1)});
    QVERIFY(front.hasValue());
    QCOMPARE(spy.passes, 6); // one for each layer; the spy fails where a live key changes
}

/// Over all sets of the same number of sublayers: how far the one stream a cell keeps is from the
/// best.
void StreamFrontTest::theBestOfAllSetsIsNeverBeaten() {
    constexpr int kLayers = 5; // six sublayers to choose from
    int isBest = 0;
    int sets = 0;
    double worstGap = 0.0;
    for (unsigned seed = 1; seed <= 50; ++seed) {
        Filled model(support::layeredConfig(kLayers), seed);
        std::vector<double> best(7, std::numeric_limits<double>::infinity());
        for (unsigned bits = 1; bits < 64; ++bits) {
            LayerPlan plan = LayerPlan::full(kLayers);
            for (unsigned i = 0; i < 6; ++i) {
                auto& kind = i % 2 == 0 ? plan.attention : plan.mlp;
                if ((bits >> i & 1U) != 0)
                    kind[1 + i / 2] = SublayerAction::Skip;
            }
            double& least = best[static_cast<std::size_t>(skippedSublayers(plan))];
            least = std::min(least, model.lossOf(plan, 1));
        }
        for (const StreamPoint& point :
             model.front({.items = StreamItems::Sublayers, .most = 6, .references = newest(1)})) {
            const double gap = point.loss - best[static_cast<std::size_t>(point.worth)];
            QVERIFY(gap >= 0.0);
            isBest += gap == 0.0 ? 1 : 0;
            worstGap = std::max(worstGap, gap);
            ++sets;
        }
    }
    qInfo("the best of all sets in %d of %d cases, at worst %.3f of loss more",
          isBest,
          sets,
          worstGap);
    QVERIFY(2 * isBest > sets);
}

void StreamFrontTest::quietLayersAreFound() {
    Filled model(support::quietModel(9, 8, {3, 6, 1e-3F}));
    const auto layers =
        model.front({.items = StreamItems::Layers, .most = 4, .references = newest(1)});
    QCOMPARE(layers.size(), std::size_t{4});
    for (const int layer : {3, 4, 5})
        QVERIFY(!layers[2].plan.runsAttention(layer) && !layers[2].plan.runsMlp(layer));
    QVERIFY(layers[2].loss < 1e-5);
    QVERIFY(layers[3].loss > 1e-3); // one that matters must go
    const auto sublayers = model.front({.items = StreamItems::Sublayers,
                                        .worths = {1, 2},
                                        .most = 9,
                                        .least = 9,
                                        .references = newest(1)});
    QCOMPARE(sublayers.size(), std::size_t{1});
    QVERIFY(sublayers.front().plan == layers[2].plan);
}

void StreamFrontTest::budgetsThatLeaveNothingGiveNoSets() {
    Filled model(support::layeredConfig(6), 9);
    QVERIFY(model.front({.most = 0, .references = newest(1)}).empty());
    QVERIFY(model.front({.most = 9, .least = 5, .references = newest(1)}).empty());
    Filled shallow(support::layeredConfig(2), 9);
    QVERIFY(shallow.front({.most = 9, .references = newest(1)}).empty());
}

void StreamFrontTest::cancellingEndsItBetweenPasses() {
    Filled model(support::layeredConfig(6), 10);
    std::stop_source source;
    source.request_stop();
    const auto found =
        streamFront(*model.transformer,
                    model.cache,
                    {.most = 2, .references = newest(1), .stop = source.get_token()});
    QVERIFY(!found.hasValue());
    QCOMPARE(found.error().code, ErrorCode::Cancelled);
}

void StreamFrontTest::worthsFollowCosts() {
    const auto check = [](double attention, double mlp, int first, int second) {
        const SublayerWorths worths = SublayerWorths::fromCosts(attention, mlp);
        QCOMPARE(worths.attention, first);
        QCOMPARE(worths.mlp, second);
    };
    check(1.0, 1.0, 1, 1);
    check(1.0, 2.2, 1, 2);
    check(1.0, 9.0, 1, 3);
    check(5.2, 2.0, 3, 1);
    check(0.0, 2.0, 1, 1); // nothing was measured
}

QTEST_GUILESS_MAIN(StreamFrontTest)
#include "stream_front_test.moc"
