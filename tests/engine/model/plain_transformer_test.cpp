// SPDX-License-Identifier: Apache-2.0
#include "engine/model/plain/plain_backend.h"
#include "engine/model/transformer.h"
#include "tests/support/forward_helpers.h"
#include "tests/support/live_bytes.h"
#include "tests/support/tiny_model.h"

#include <QTest>

#include <random>

using namespace engine;
using support::emptyCache;
using support::logitsOf;
using support::runChain;

Q_DECLARE_METATYPE(engine::Precision)

namespace {

std::unique_ptr<Transformer> makeTiny(Precision precision, int window = 0) {
    ModelConfig config = support::tinyConfig();
    config.layerWindows.assign(config.layerWindows.size(), window);
    return std::move(makePlainTransformer(
                         config, support::randomWeights(config, 11), {.precision = precision}))
        .value();
}

std::vector<TokenId> randomIds(std::size_t count) {
    std::mt19937 random(5);
    std::vector<TokenId> ids(count);
    for (TokenId& id : ids)
        id = static_cast<TokenId>(random() % 160);
    return ids;
}

} // namespace

class PlainTransformerTest : public QObject {
    Q_OBJECT

private slots:
    void rowsDoNotDependOnHowManyRunTogether_data();
    void rowsDoNotDependOnHowManyRunTogether();
    void treeNodesEqualTheirPathsAsChains_data();
    void treeNodesEqualTheirPathsAsChains();
    void aTreeDraftedNodeByNodeEqualsOnePass();
    void layerRangesChainedEqualTheWhole();
    void anExitIsTheHiddenStateOfItsLayer();
    void aPassWithoutLayersIsTheHead();
    void skippedSublayersAddNothing();
    void draftRowsAreOverwrittenByVerification();
    void rowsOutsideThePathAreNotSeen();
    void overflowNamesTheTensor();
    void weightsThatAreNotFiniteNameTheTensor();
    void bfloat16IsRefused();
    void loadingCanBeCancelled();
    void idsOutsideTheVocabularyAreABug();
};

void PlainTransformerTest::rowsDoNotDependOnHowManyRunTogether_data() {
    QTest::addColumn<Precision>("precision");
    QTest::addColumn<int>("window");
    QTest::newRow("float32") << Precision::F32 << 0;
    QTest::newRow("float64") << Precision::F64 << 0;
    QTest::newRow("float32, window of 16") << Precision::F32 << 16;
}

void PlainTransformerTest::rowsDoNotDependOnHowManyRunTogether() {
    QFETCH(Precision, precision);
    QFETCH(int, window);
    const auto transformer = makeTiny(precision, window);
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> ids = randomIds(40);
    KvCache single = emptyCache(*transformer, 64);
    const auto expected = runChain(*transformer, single, plan, ids, 1);
    for (const std::size_t rowsAtOnce : {2U, 3U, 7U, 40U}) {
        KvCache cache = emptyCache(*transformer, 64);
        QCOMPARE(runChain(*transformer, cache, plan, ids, rowsAtOnce), expected);
    }
}

void PlainTransformerTest::treeNodesEqualTheirPathsAsChains_data() {
    rowsDoNotDependOnHowManyRunTogether_data();
}

void PlainTransformerTest::treeNodesEqualTheirPathsAsChains() {
    QFETCH(Precision, precision);
    QFETCH(int, window);
    const auto transformer = makeTiny(precision, window);
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> prefix = randomIds(19);
    const std::vector<TokenId> nodes = {3, 99, 40, 7, 150, 12, 88};
    const std::vector<int> parents = {-1, -1, 0, 0, 2, 1, 5};
    KvCache cache = emptyCache(*transformer, 64);
    runChain(*transformer, cache, plan, prefix, 7);
    const auto tree =
        logitsOf(*transformer, cache, plan, AttentionLayout::tree(cache.length(), parents), nodes);
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        std::vector<TokenId> sequence;
        for (int at = static_cast<int>(node); at >= 0; at = parents[static_cast<std::size_t>(at)])
            sequence.insert(sequence.begin(), nodes[static_cast<std::size_t>(at)]);
        sequence.insert(sequence.begin(), prefix.begin(), prefix.end());
        KvCache own = emptyCache(*transformer, 64);
        QCOMPARE(tree[node], runChain(*transformer, own, plan, sequence, 1).back());
    }
}

void PlainTransformerTest::aTreeDraftedNodeByNodeEqualsOnePass() {
    const auto transformer = makeTiny(Precision::F32);
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> nodes = {3, 99, 40, 7};
    const std::vector<int> parents = {-1, 0, 0, 2};
    KvCache cache = emptyCache(*transformer, 64);
    runChain(*transformer, cache, plan, randomIds(9), 9);
    const auto whole =
        logitsOf(*transformer, cache, plan, AttentionLayout::tree(cache.length(), parents), nodes);
    for (int node = 0; node < 4; ++node) {
        const auto count = static_cast<std::size_t>(node) + 1;
        const auto layout = AttentionLayout::tree(
            cache.length(), std::span(parents).first(count), node, cache.length());
        const auto one =
            logitsOf(*transformer, cache, plan, layout, std::span(nodes).subspan(count - 1, 1));
        QCOMPARE(one[0], whole[count - 1]);
    }
}

void PlainTransformerTest::layerRangesChainedEqualTheWhole() {
    const auto transformer = makeTiny(Precision::F64);
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> ids = randomIds(5);
    const AttentionLayout layout = AttentionLayout::chain(0, 5);
    KvCache whole = emptyCache(*transformer, 8);
    const auto expected = logitsOf(*transformer, whole, plan, layout, ids);
    KvCache cache = emptyCache(*transformer, 8);
    const std::vector<int> hiddenLayers = {0, 1};
    const auto lower = transformer->forward({.plan = plan,
                                             .layout = layout,
                                             .tokens = ids,
                                             .endLayer = 2,
                                             .hiddenLayers = hiddenLayers},
                                            cache);
    QVERIFY(lower.hasValue());
    const std::span<const double> hidden = std::span(lower.value().hidden).subspan(5 * 48);
    const int lastRow = 4;
    const auto upper = transformer->forward({.plan = plan,
                                             .layout = layout,
                                             .hidden = hidden,
                                             .firstLayer = 2,
                                             .logitRows = std::span(&lastRow, 1)},
                                            cache);
    QVERIFY(upper.hasValue());
    QCOMPARE(upper.value().logits, expected[4]);
}

void PlainTransformerTest::anExitIsTheHiddenStateOfItsLayer() {
    const auto transformer = makeTiny(Precision::F64);
    LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> ids = randomIds(4);
    const AttentionLayout layout = AttentionLayout::chain(0, 4);
    plan.exitAfterLayer = 1;
    KvCache cache = emptyCache(*transformer, 8);
    const auto exited = logitsOf(*transformer, cache, plan, layout, ids);
    std::vector<int> rows = {0, 1, 2, 3};
    const auto cut = transformer->forward({.plan = LayerPlan::full(3),
                                           .layout = layout,
                                           .tokens = ids,
                                           .endLayer = 2,
                                           .logitRows = rows},
                                          cache);
    const auto row = cut.value().logitRow(3);
    QCOMPARE(std::vector<double>(row.begin(), row.end()), exited[3]);
}

void PlainTransformerTest::aPassWithoutLayersIsTheHead() {
    const auto transformer = makeTiny(Precision::F64);
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> ids = randomIds(4);
    const AttentionLayout layout = AttentionLayout::chain(0, 4);
    const std::vector<int> rows = {0, 1, 2, 3};
    const std::vector<int> layers = {1};
    KvCache cache = emptyCache(*transformer, 8);
    const auto cut = transformer->forward({.plan = plan,
                                           .layout = layout,
                                           .tokens = ids,
                                           .endLayer = 2,
                                           .logitRows = rows,
                                           .hiddenLayers = layers},
                                          cache);
    cache.commit(4);
    const std::vector<std::byte> before = support::liveBytes(cache);
    const auto head = transformer->forward({.plan = plan,
                                            .layout = layout,
                                            .hidden = cut.value().hidden,
                                            .firstLayer = 1,
                                            .endLayer = 1,
                                            .logitRows = rows,
                                            .summaryRows = rows},
                                           cache);
    QCOMPARE(head.value().logits, cut.value().logits);
    QCOMPARE(head.value().summaries[3].best(), summarise(cut.value().logitRow(3)).best());
    QVERIFY(support::liveBytes(cache) == before);
}

void PlainTransformerTest::skippedSublayersAddNothing() {
    // A network whose attention output and MLP output weights are zero is the network without them.
    const ModelConfig config = support::tinyConfig();
    support::MemoryWeights weights = support::randomWeights(config, 11);
    const auto whole = std::move(makePlainTransformer(config, weights, {})).value();
    auto& attention = weights.values("model.layers.1.self_attn.o_proj.weight");
    std::fill(attention.begin(), attention.end(), 0.0F);
    auto& mlp = weights.values("model.layers.2.mlp.down_proj.weight");
    std::fill(mlp.begin(), mlp.end(), 0.0F);
    const auto muted = std::move(makePlainTransformer(config, weights, {})).value();
    LayerPlan plan = LayerPlan::full(3);
    plan.attention[1] = SublayerAction::Skip;
    plan.mlp[2] = SublayerAction::Skip;
    const std::vector<TokenId> ids = randomIds(12);
    KvCache left = emptyCache(*whole, 16);
    KvCache right = emptyCache(*muted, 16);
    QCOMPARE(runChain(*whole, left, plan, ids, 12),
             runChain(*muted, right, LayerPlan::full(3), ids, 12));
}

void PlainTransformerTest::draftRowsAreOverwrittenByVerification() {
    const auto transformer = makeTiny(Precision::F32);
    const LayerPlan full = LayerPlan::full(3);
    LayerPlan draft = full;
    draft.attention[1] = SublayerAction::Skip;
    draft.mlp[0] = SublayerAction::Skip;
    const std::vector<TokenId> ids = randomIds(12);
    KvCache clean = emptyCache(*transformer, 16);
    const auto expected = runChain(*transformer, clean, full, ids, 1);
    KvCache cache = emptyCache(*transformer, 16);
    runChain(*transformer, cache, full, std::span(ids).first(8), 8);
    runChain(*transformer, cache, draft, std::span(ids).subspan(8), 1); // skewed keys and values
    cache.truncate(8);
    const auto verified = runChain(*transformer, cache, full, std::span(ids).subspan(8), 4);
    QCOMPARE(verified, std::vector(expected.begin() + 8, expected.end()));
}

void PlainTransformerTest::rowsOutsideThePathAreNotSeen() {
    const auto transformer = makeTiny(Precision::F32);
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> ids = randomIds(10);
    KvCache cache = emptyCache(*transformer, 32);
    runChain(*transformer, cache, plan, ids, 10);
    // Re-reading the tokens 6 to 9 behind the first six, from slots that lie beyond the cache's
    // end.
    const std::vector<int> parents = {-1, 0, 1, 2};
    const auto again = logitsOf(*transformer,
                                cache,
                                plan,
                                AttentionLayout::tree(6, parents, 0, 20),
                                std::span(ids).subspan(6));
    KvCache fresh = emptyCache(*transformer, 32);
    QCOMPARE(again.back(), runChain(*transformer, fresh, plan, ids, 1).back());
}

void PlainTransformerTest::overflowNamesTheTensor() {
    const ModelConfig config = support::tinyConfig();
    support::MemoryWeights weights = support::randomWeights(config, 11);
    for (float& value : weights.values("model.layers.1.mlp.up_proj.weight"))
        value = 3e38F;
    const auto transformer = std::move(makePlainTransformer(config, weights, {})).value();
    const std::vector<TokenId> ids = {1, 2};
    KvCache cache = emptyCache(*transformer, 4);
    const auto result = transformer->forward(
        {.plan = LayerPlan::full(3), .layout = AttentionLayout::chain(0, 2), .tokens = ids}, cache);
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::Numeric);
    QVERIFY(result.error().message.find("model.layers.1.mlp.up_proj.weight") != std::string::npos);
}

void PlainTransformerTest::weightsThatAreNotFiniteNameTheTensor() {
    const ModelConfig config = support::tinyConfig();
    support::MemoryWeights weights = support::randomWeights(config, 11);
    weights.values("model.layers.2.self_attn.k_proj.weight")[17] =
        std::numeric_limits<float>::quiet_NaN();
    const auto result = makePlainTransformer(config, weights, {});
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::Numeric);
    QVERIFY(result.error().message.find("model.layers.2.self_attn.k_proj.weight") !=
            std::string::npos);
}

void PlainTransformerTest::bfloat16IsRefused() {
    const ModelConfig config = support::tinyConfig();
    const auto result = makePlainTransformer(
        config, support::randomWeights(config, 1), {.precision = Precision::BF16});
    QCOMPARE(result.error().code, ErrorCode::Unsupported);
}

void PlainTransformerTest::loadingCanBeCancelled() {
    const ModelConfig config = support::tinyConfig();
    std::stop_source source;
    double lastPart = 0.0;
    TransformerOptions options;
    options.stop = source.get_token();
    options.progress = [&](double part) {
        lastPart = part;
        source.request_stop();
    };
    const auto result = makePlainTransformer(config, support::randomWeights(config, 1), options);
    QCOMPARE(result.error().code, ErrorCode::Cancelled);
    QVERIFY(lastPart > 0.0 && lastPart < 1.0);
}

void PlainTransformerTest::idsOutsideTheVocabularyAreABug() {
    const auto transformer = makeTiny(Precision::F32);
    KvCache cache = emptyCache(*transformer, 4);
    const std::vector<TokenId> ids = {160};
    QVERIFY_EXCEPTION_THROWN(
        logitsOf(*transformer, cache, LayerPlan::full(3), AttentionLayout::chain(0, 1), ids),
        EngineBug);
}

QTEST_GUILESS_MAIN(PlainTransformerTest)
#include "plain_transformer_test.moc"
