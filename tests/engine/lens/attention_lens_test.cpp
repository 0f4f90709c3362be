// SPDX-License-Identifier: Apache-2.0
// Where heads look: the weights are those with which the values are added, by a network whose
// values show them.
#include "engine/lens/attention_lens.h"
#include "tests/support/models/plain_model.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/transformers/stub_transformer.h"

#include <QTest>

#include <cmath>
#include <numeric>

using namespace engine;
using support::plainModel;

namespace {

constexpr int kContext = 512;

std::vector<TokenId> textOf(int length) {
    std::vector<TokenId> text(static_cast<std::size_t>(length));
    for (std::size_t i = 0; i < text.size(); ++i)
        text[i] = static_cast<TokenId>((i * 53 + 7) % 160);
    return text;
}

/// Runs the work to its end. Fails by exception.
std::vector<HeadAttention>
attentionOf(Transformer& transformer, const std::vector<TokenId>& text, int token, int layer) {
    auto lens = support::valueOf(AttentionLens::begin(transformer, text, token, layer, kContext));
    while (!lens.isDone()) {
        const auto stepped = lens.step();
        ENGINE_CHECK(stepped.hasValue(), "{}", stepped.error().message);
    }
    return lens.heads();
}

/// Rows that each pick one number: the output of attention is then what the heads found.
void passThrough(std::vector<float>& square, std::size_t width) {
    std::fill(square.begin(), square.end(), 0.0F);
    for (std::size_t i = 0; i < width; ++i)
        square[i * width + i] = 1.0F;
}

} // namespace

class AttentionLensTest : public QObject {
    Q_OBJECT

private slots:
    void weightsAreThoseThatTheValuesAreAddedWith();
    void headsThatDoNotChooseLookEverywhere();
    void aWindowHidesWhatIsBefore();
    void aLongTextIsReadInPieces();
    void aBackendThatDoesNotTellRefuses();
    void whatIsNotThereIsRefused_data();
    void whatIsNotThereIsRefused();
};

/// The values of earlier tokens become unit vectors, one direction each; the stream then grows by
/// the weights themselves.
void AttentionLensTest::weightsAreThoseThatTheValuesAreAddedWith() {
    const ModelConfig config = support::tinyConfig(); // 4 heads of 12 numbers: hidden size 48
    support::MemoryWeights weights = support::randomWeights(config, 2);
    passThrough(weights.values("model.layers.1.self_attn.o_proj.weight"), 48);
    auto& valueWeights = weights.values("model.layers.1.self_attn.v_proj.weight");
    std::fill(valueWeights.begin(), valueWeights.end(), 0.0F);
    const auto transformer = plainModel(config, weights);
    const std::vector<TokenId> text = textOf(14);
    const LayerPlan plan = LayerPlan::full(3);
    KvCache cache = support::emptyCache(*transformer, 16);
    support::runChain(*transformer, cache, plan, std::span(text).first(12), 12);
    auto& storage = dynamic_cast<HostKvStorage&>(cache.storage());
    auto* values = reinterpret_cast<double*>(storage.values(1));
    for (std::size_t kvHead = 0; kvHead < 2; ++kvHead)
        for (std::size_t slot = 0; slot < 12; ++slot)
            values[(kvHead * 16 + slot) * 12 + slot] = 1.0;
    HiddenRows before;
    HiddenRows behind;
    LayerPlan attentionAlone = plan;
    attentionAlone.mlp[1] = SublayerAction::Skip;
    const std::vector<HandOut> handOuts = {{0, &before}, {1, &behind}};
    QVERIFY(transformer
                ->forward({.plan = attentionAlone,
                           .layout = AttentionLayout::chain(12, 1),
                           .tokens = std::span(text).subspan(12, 1),
                           .endLayer = 2,
                           .handOuts = handOuts},
                          cache)
                .hasValue());
    const std::vector<double> entered = support::numbersOf(before, 48);
    const std::vector<double> left = support::numbersOf(behind, 48);
    const std::vector<HeadAttention> heads = attentionOf(*transformer, text, 13, 1);
    QCOMPARE(heads.size(), std::size_t{4});
    for (std::size_t head = 0; head < 4; ++head) {
        QCOMPARE(heads[head].weights.size(), std::size_t{13});
        for (std::size_t slot = 0; slot < 12; ++slot)
            QVERIFY(std::abs(heads[head].weights[slot] -
                             (left[head * 12 + slot] - entered[head * 12 + slot])) < 1e-12);
        const auto& own = heads[head].weights;
        QVERIFY(std::abs(std::accumulate(own.begin(), own.end(), -1.0)) < 1e-12);
    }
}

void AttentionLensTest::headsThatDoNotChooseLookEverywhere() {
    const ModelConfig config = support::tinyConfig();
    support::MemoryWeights weights = support::randomWeights(config, 2);
    auto& queries = weights.values("model.layers.2.self_attn.q_proj.weight");
    std::fill(queries.begin(), queries.end(), 0.0F);
    const auto transformer = plainModel(config, weights);
    for (const HeadAttention& head : attentionOf(*transformer, textOf(17), 16, 2)) {
        QCOMPARE(head.weights.size(), std::size_t{16});
        for (const double weight : head.weights)
            QCOMPARE(weight, 1.0 / 16.0);
        QCOMPARE(head.entropy, 4.0); // bits: one of 16
    }
    const auto alone = attentionOf(*transformer, textOf(17), 1, 2);
    QCOMPARE(alone.front().weights, std::vector<double>{1.0});
    QCOMPARE(alone.front().entropy, 0.0);
}

void AttentionLensTest::aWindowHidesWhatIsBefore() {
    ModelConfig config = support::tinyConfig();
    config.layerWindows = {0, 5, 0};
    const auto transformer = plainModel(config, support::randomWeights(config, 2));
    for (const HeadAttention& head : attentionOf(*transformer, textOf(12), 11, 1)) {
        QCOMPARE(head.weights.size(), std::size_t{11});
        for (std::size_t at = 0; at < 6; ++at)
            QCOMPARE(head.weights[at], 0.0);
        for (std::size_t at = 6; at < 11; ++at)
            QVERIFY(head.weights[at] > 0.0);
    }
}

void AttentionLensTest::aLongTextIsReadInPieces() {
    const ModelConfig config = support::tinyConfig();
    const auto transformer = plainModel(config, support::randomWeights(config, 2));
    auto lens = AttentionLens::begin(*transformer, textOf(300), 290, 1, kContext);
    double part = 0.0;
    int steps = 0;
    for (; !lens.value().isDone(); ++steps) {
        QVERIFY(lens.value().step().hasValue());
        QVERIFY(lens.value().part() > part);
        part = lens.value().part();
    }
    QCOMPARE(steps, 4); // 128 + 128 + 33 tokens, then the one that looks
    QCOMPARE(lens.value().heads().front().weights.size(), std::size_t{290});
}

void AttentionLensTest::aBackendThatDoesNotTellRefuses() {
    test_support::StubTransformer transformer;
    const auto lens = AttentionLens::begin(transformer, {1, 2, 3}, 2, 0, kContext);
    QVERIFY(!lens.hasValue());
    QCOMPARE(lens.error().code, ErrorCode::Unsupported);
    QVERIFY(!lens.error().hint.empty());
}

void AttentionLensTest::whatIsNotThereIsRefused_data() {
    QTest::addColumn<int>("token");
    QTest::addColumn<int>("layer");
    QTest::newRow("nothing stands before it") << 0 << 1;
    QTest::newRow("behind the text") << 9 << 1;
    QTest::newRow("no such layer") << 5 << 3;
    QTest::newRow("the embedding") << 5 << -1;
}

void AttentionLensTest::whatIsNotThereIsRefused() {
    QFETCH(int, token);
    QFETCH(int, layer);
    const ModelConfig config = support::tinyConfig();
    const auto transformer = plainModel(config, support::randomWeights(config, 2));
    const auto lens = AttentionLens::begin(*transformer, textOf(9), token, layer, kContext);
    QVERIFY(!lens.hasValue());
    QCOMPARE(lens.error().code, ErrorCode::InvalidInput);
}

QTEST_GUILESS_MAIN(AttentionLensTest)
#include "attention_lens_test.moc"
