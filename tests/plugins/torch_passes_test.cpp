// SPDX-License-Identifier: Apache-2.0
#include "engine/model/plain/plain_backend.h"
#include "tests/plugins/torch_support.h"
#include "tests/support/forward_helpers.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace engine;
using support::emptyCache;
using support::logitsOf;
using support::runChain;
using torch_support::makeTorch;
using torch_support::randomIds;

/// Plans, layer ranges and layouts of the torch backend; its numbers against the plain backend's.
class TorchPassesTest : public QObject {
    Q_OBJECT

private slots:
    void numbersEqualThePlainBackends_data();
    void numbersEqualThePlainBackends();
    void layerRangesChainedEqualTheWhole_data();
    void layerRangesChainedEqualTheWhole();
    void anExitIsTheHiddenStateOfItsLayer();
    void skippedSublayersAddNothing();
    void draftRowsAreOverwrittenByVerification();
    void onlyAskedLogitsAreGiven();
    void onlyAskedSummariesAreGiven();
    void aPassOfNoRowsIsEmpty();
    void overflowNamesTheTensor_data();
    void overflowNamesTheTensor();
    void afterAnOverflowTheNextPassIsRight();
    void wrongRequestsAreBugs();
};

namespace {

std::unique_ptr<Transformer> makeTiny(Precision precision) {
    const ModelConfig config = support::tinyConfig();
    return makeTorch(config, support::randomWeights(config, 11), precision);
}

void addPrecisions() {
    QTest::addColumn<Precision>("precision");
    for (const Precision precision : {Precision::F32, Precision::F64, Precision::BF16})
        QTest::newRow(precisionName(precision).data()) << precision;
}

} // namespace

void TorchPassesTest::numbersEqualThePlainBackends_data() {
    QTest::addColumn<Precision>("precision");
    QTest::addColumn<double>("tolerance"); // relative to the largest logit
    QTest::newRow("float64") << Precision::F64 << 1e-10;
    QTest::newRow("float32") << Precision::F32 << 2e-5;
}

void TorchPassesTest::numbersEqualThePlainBackends() {
    QFETCH(Precision, precision);
    QFETCH(double, tolerance);
    ModelConfig config = support::tinyConfig();
    config.layerWindows = {0, 16, 0};
    config.qkvBias = config.mlpBias = true;
    config.ropeScaling = {.kind = RopeScalingKind::Llama3, .factor = 8.0};
    config.ropeScaling.originalContextLength = 64.0;
    const support::MemoryWeights weights = support::randomWeights(config, 3);
    const auto torch = makeTorch(config, weights, precision);
    const auto plain =
        std::move(makePlainTransformer(config, weights, {.precision = precision})).value();
    LayerPlan plan = LayerPlan::full(config.layerCount);
    plan.mlp[1] = SublayerAction::Skip;
    const std::vector<int> parents = {-1, 0, 0, 1, -1};
    std::vector<std::vector<double>> numbers[2];
    for (Transformer* transformer : {torch.get(), plain.get()}) {
        auto& own = numbers[transformer == plain.get()];
        KvCache cache = emptyCache(*transformer, 64);
        own = runChain(*transformer, cache, plan, randomIds(40), 13);
        auto tree = logitsOf(*transformer,
                             cache,
                             plan,
                             AttentionLayout::tree(cache.length(), parents),
                             randomIds(5));
        std::move(tree.begin(), tree.end(), std::back_inserter(own));
    }
    QCOMPARE(numbers[0].size(), numbers[1].size());
    for (std::size_t row = 0; row < numbers[0].size(); ++row) {
        double largest = 0.0;
        double difference = 0.0;
        for (std::size_t i = 0; i < numbers[0][row].size(); ++i) {
            largest = std::max(largest, std::abs(numbers[1][row][i]));
            difference = std::max(difference, std::abs(numbers[0][row][i] - numbers[1][row][i]));
        }
        QVERIFY2(difference <= tolerance * largest,
                 qPrintable(QString("row %1: %2 of %3").arg(row).arg(difference).arg(largest)));
    }
}

void TorchPassesTest::layerRangesChainedEqualTheWhole_data() { addPrecisions(); }

void TorchPassesTest::layerRangesChainedEqualTheWhole() {
    QFETCH(Precision, precision);
    const auto transformer = makeTiny(precision);
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
    QCOMPARE(lower.value().hidden.size(), std::size_t{2 * 5 * 48});
    const int lastRow = 4;
    const auto upper = transformer->forward({.plan = plan,
                                             .layout = layout,
                                             .hidden = std::span(lower.value().hidden).last(5 * 48),
                                             .firstLayer = 2,
                                             .logitRows = std::span(&lastRow, 1)},
                                            cache);
    QVERIFY(upper.hasValue());
    QCOMPARE(upper.value().logits, expected[4]);
}

void TorchPassesTest::anExitIsTheHiddenStateOfItsLayer() {
    const auto transformer = makeTiny(Precision::F32);
    LayerPlan plan = LayerPlan::full(3);
    plan.exitAfterLayer = 1;
    const std::vector<TokenId> ids = randomIds(4);
    const AttentionLayout layout = AttentionLayout::chain(0, 4);
    KvCache cache = emptyCache(*transformer, 8);
    const auto exited = logitsOf(*transformer, cache, plan, layout, ids);
    const int lastRow = 3;
    const auto cut = transformer->forward({.plan = LayerPlan::full(3),
                                           .layout = layout,
                                           .tokens = ids,
                                           .endLayer = 2,
                                           .logitRows = std::span(&lastRow, 1)},
                                          cache);
    QVERIFY(cut.hasValue());
    QCOMPARE(cut.value().logits, exited[3]);
}

void TorchPassesTest::skippedSublayersAddNothing() {
    // A network whose output weights are zero at two sublayers is the network without these.
    const ModelConfig config = support::tinyConfig();
    support::MemoryWeights weights = support::randomWeights(config, 11);
    const auto whole = makeTorch(config, weights, Precision::F32);
    for (const char* name :
         {"model.layers.1.self_attn.o_proj.weight", "model.layers.2.mlp.down_proj.weight"})
        std::fill(weights.values(name).begin(), weights.values(name).end(), 0.0F);
    const auto muted = makeTorch(config, weights, Precision::F32);
    LayerPlan plan = LayerPlan::full(3);
    plan.attention[1] = SublayerAction::Skip;
    plan.mlp[2] = SublayerAction::Skip;
    const std::vector<TokenId> ids = randomIds(12);
    KvCache left = emptyCache(*whole, 16);
    KvCache right = emptyCache(*muted, 16);
    QCOMPARE(runChain(*whole, left, plan, ids, 12),
             runChain(*muted, right, LayerPlan::full(3), ids, 12));
}

void TorchPassesTest::draftRowsAreOverwrittenByVerification() {
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

void TorchPassesTest::onlyAskedLogitsAreGiven() {
    const auto transformer = makeTiny(Precision::F32);
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> ids = randomIds(100); // more rows than the head takes at once
    const AttentionLayout layout = AttentionLayout::chain(0, 100);
    KvCache cache = emptyCache(*transformer, 100);
    const auto all = logitsOf(*transformer, cache, plan, layout, ids);
    const std::vector<int> rows = {97, 2, 66};
    const auto some = transformer->forward(
        {.plan = plan, .layout = layout, .tokens = ids, .logitRows = rows}, cache);
    QVERIFY(some.hasValue());
    QCOMPARE(some.value().logits.size(), std::size_t{3 * 160});
    for (int i = 0; i < 3; ++i) {
        const auto row = some.value().logitRow(i);
        QCOMPARE(std::vector<double>(row.begin(), row.end()),
                 all[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])]);
    }
    const auto none = transformer->forward({.plan = plan, .layout = layout, .tokens = ids}, cache);
    QVERIFY(none.hasValue() && none.value().logits.empty() && none.value().hidden.empty());
}

void TorchPassesTest::onlyAskedSummariesAreGiven() {
    const auto transformer = makeTiny(Precision::F32);
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> ids = randomIds(100); // more rows than the head takes at once
    const AttentionLayout layout = AttentionLayout::chain(0, 100);
    KvCache cache = emptyCache(*transformer, 100);
    const auto all = logitsOf(*transformer, cache, plan, layout, ids);
    std::vector<int> rows = {97, 2};
    for (int row = 0; row < 100; ++row)
        rows.push_back(row);
    const std::vector<int> logitRows = {66, 97};
    ForwardResult result;
    for (int round = 0; round < 2; ++round) { // the second one into what the first one left
        QVERIFY(transformer
                    ->forwardInto({.plan = plan,
                                   .layout = layout,
                                   .tokens = ids,
                                   .logitRows = logitRows,
                                   .summaryRows = rows},
                                  cache,
                                  result)
                    .hasValue());
        QCOMPARE(result.logits.size(), std::size_t{2 * 160});
        QCOMPARE(result.summaries.size(), rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const HeadSummary wanted = summarise(all[static_cast<std::size_t>(rows[i])]);
            QCOMPARE(result.summaries[i].ids, wanted.ids);
            QCOMPARE(result.summaries[i].logits, wanted.logits);
            QCOMPARE(result.summaries[i].logSumExp, wanted.logSumExp);
        }
        for (int i = 0; i < 2; ++i) {
            const auto row = result.logitRow(i);
            QCOMPARE(std::vector<double>(row.begin(), row.end()),
                     all[static_cast<std::size_t>(logitRows[static_cast<std::size_t>(i)])]);
        }
    }
}

void TorchPassesTest::aPassOfNoRowsIsEmpty() {
    const auto transformer = makeTiny(Precision::F32);
    KvCache cache = emptyCache(*transformer, 4);
    const auto result = transformer->forward(
        {.plan = LayerPlan::full(3), .layout = AttentionLayout::chain(0, 0)}, cache);
    QVERIFY(result.hasValue() && result.value().logits.empty());
}

void TorchPassesTest::overflowNamesTheTensor_data() {
    QTest::addColumn<Precision>("precision");
    QTest::addColumn<QString>("tensor");
    for (const Precision precision : {Precision::F32, Precision::BF16})
        for (const char* tensor : {"model.layers.1.mlp.up_proj.weight",
                                   "model.layers.2.mlp.down_proj.weight",
                                   "model.layers.0.self_attn.q_proj.weight",
                                   "model.layers.1.self_attn.o_proj.weight",
                                   "model.layers.1.input_layernorm.weight",
                                   "model.norm.weight",
                                   "lm_head.weight"})
            QTest::addRow("%s, %s", precisionName(precision).data(), tensor)
                << precision << QString(tensor);
}

void TorchPassesTest::overflowNamesTheTensor() {
    QFETCH(Precision, precision);
    QFETCH(QString, tensor);
    const ModelConfig config = support::tinyConfig();
    support::MemoryWeights weights = support::randomWeights(config, 11);
    for (float& value : weights.values(tensor.toStdString()))
        value = value < 0 ? -3e38F : 3e38F;
    const auto transformer = makeTorch(config, weights, precision);
    const std::vector<TokenId> ids = {1, 2};
    const std::vector<int> rows = {0, 1};
    KvCache cache = emptyCache(*transformer, 4);
    const auto result = transformer->forward({.plan = LayerPlan::full(3),
                                              .layout = AttentionLayout::chain(0, 2),
                                              .tokens = ids,
                                              .logitRows = rows},
                                             cache);
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::Numeric);
    QVERIFY2(QString::fromStdString(result.error().message).contains(tensor),
             result.error().message.c_str());
    QVERIFY(result.error().message.find("position 0") != std::string::npos);
    QVERIFY(!result.error().hint.empty());
}

void TorchPassesTest::afterAnOverflowTheNextPassIsRight() {
    const auto transformer = makeTiny(Precision::F32);
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> ids = {1, 2, 3};
    KvCache clean = emptyCache(*transformer, 4);
    const auto expected = runChain(*transformer, clean, plan, ids, 3);
    KvCache cache = emptyCache(*transformer, 4);
    const std::vector<double> hidden(3 * 48, std::numeric_limits<double>::infinity());
    const auto failed = transformer->forward(
        {.plan = plan, .layout = AttentionLayout::chain(0, 3), .hidden = hidden, .firstLayer = 1},
        cache);
    QVERIFY(!failed);
    QCOMPARE(failed.error().code, ErrorCode::Numeric);
    QCOMPARE(runChain(*transformer, cache, plan, ids, 3), expected);
}

void TorchPassesTest::wrongRequestsAreBugs() {
    const auto transformer = makeTiny(Precision::F32);
    KvCache cache = emptyCache(*transformer, 4);
    const auto run = [&](const LayerPlan& plan, int rows, std::vector<TokenId> ids) {
        logitsOf(*transformer, cache, plan, AttentionLayout::chain(0, rows), ids);
    };
    const LayerPlan plan = LayerPlan::full(3);
    QVERIFY_EXCEPTION_THROWN(run(plan, 1, {160}), EngineBug);
    QVERIFY_EXCEPTION_THROWN(run(plan, 1, {-1}), EngineBug);
    QVERIFY_EXCEPTION_THROWN(run(plan, 2, {1}), EngineBug);
    QVERIFY_EXCEPTION_THROWN(run(plan, 5, {1, 2, 3, 4, 5}), EngineBug);
    QVERIFY_EXCEPTION_THROWN(run(LayerPlan::full(4), 1, {1}), EngineBug);
    const auto wide = makeTiny(Precision::F64);
    KvCache foreign = emptyCache(*wide, 4);
    const std::vector<TokenId> ids = {1};
    QVERIFY_EXCEPTION_THROWN(
        logitsOf(*transformer, foreign, plan, AttentionLayout::chain(0, 1), ids), EngineBug);
}

QTEST_GUILESS_MAIN(TorchPassesTest)
#include "torch_passes_test.moc"
