// SPDX-License-Identifier: Apache-2.0
#include "tests/plugins/torch_support.h"
#include "tests/support/forward_helpers.h"

#include <QTest>

#include <algorithm>
#include <limits>

using namespace engine;
using torch_support::makeTorch;
using torch_support::torchFactory;

namespace {

const char* kTensor = "model.layers.2.self_attn.k_proj.weight";

bool mentions(const Error& error, std::string_view text) {
    return error.message.find(text) != std::string::npos;
}

/// The error of loading the tiny model with one value of kTensor changed.
Result<std::unique_ptr<Transformer>> loadWith(float value, Precision precision) {
    const ModelConfig config = support::tinyConfig();
    support::MemoryWeights weights = support::randomWeights(config, 11);
    weights.values(kTensor)[100] = value;
    return torchFactory()(config, weights, {.precision = precision});
}

} // namespace

/// How the torch backend reads its weights.
class TorchLoadingTest : public QObject {
    Q_OBJECT

private slots:
    void weightsThatAreNotFiniteNameTheTensor();
    void whatOverflowsInBfloat16IsRefusedThere();
    void aMissingTensorIsNamed();
    void aWrongShapeNamesBothShapes();
    void loadingCanBeCancelled();
    void progressGrowsToTheEnd();
    void weightsAreKeptInTheirPrecision();
    void theNumberOfThreadsIsFollowed();
};

void TorchLoadingTest::weightsThatAreNotFiniteNameTheTensor() {
    for (const Precision precision : {Precision::F32, Precision::F64, Precision::BF16})
        for (const float value : {std::numeric_limits<float>::quiet_NaN(),
                                  std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<float>::infinity()}) {
            const auto loaded = loadWith(value, precision);
            QVERIFY(!loaded);
            QCOMPARE(loaded.error().code, ErrorCode::Numeric);
            QVERIFY(mentions(loaded.error(), kTensor));
            QVERIFY(mentions(loaded.error(), "row 2, column 4"));
        }
}

void TorchLoadingTest::whatOverflowsInBfloat16IsRefusedThere() {
    const float largest = std::numeric_limits<float>::max();
    QVERIFY(loadWith(largest, Precision::F32).hasValue());
    QVERIFY(loadWith(largest, Precision::F64).hasValue());
    QVERIFY(loadWith(3.38e38F, Precision::BF16).hasValue());
    const auto loaded = loadWith(largest, Precision::BF16);
    QCOMPARE(loaded.error().code, ErrorCode::Numeric);
    QVERIFY(mentions(loaded.error(), "bfloat16"));
}

void TorchLoadingTest::aMissingTensorIsNamed() {
    ModelConfig config = support::tinyConfig();
    const support::MemoryWeights weights = support::randomWeights(config, 11);
    config.mlpBias = true;
    const auto loaded = torchFactory()(config, weights, {});
    QCOMPARE(loaded.error().code, ErrorCode::NotFound);
    QVERIFY(mentions(loaded.error(), "model.layers.0.mlp.gate_proj.bias"));
}

void TorchLoadingTest::aWrongShapeNamesBothShapes() {
    ModelConfig config = support::tinyConfig();
    const support::MemoryWeights weights = support::randomWeights(config, 11);
    config.mlpSize = 81;
    const auto loaded = torchFactory()(config, weights, {});
    QCOMPARE(loaded.error().code, ErrorCode::CorruptFile);
    QVERIFY(mentions(loaded.error(), "model.layers.0.mlp.gate_proj.weight"));
    QVERIFY(mentions(loaded.error(), "[80, 48]") && mentions(loaded.error(), "[81, 48]"));
}

void TorchLoadingTest::loadingCanBeCancelled() {
    const ModelConfig config = support::tinyConfig();
    std::stop_source source;
    double lastPart = 0.0;
    TransformerOptions options;
    options.stop = source.get_token();
    options.progress = [&](double part) {
        lastPart = part;
        source.request_stop();
    };
    const auto loaded = torchFactory()(config, support::randomWeights(config, 1), options);
    QCOMPARE(loaded.error().code, ErrorCode::Cancelled);
    QVERIFY(lastPart > 0.0 && lastPart < 1.0);
}

void TorchLoadingTest::progressGrowsToTheEnd() {
    const ModelConfig config = support::tinyConfig();
    std::vector<double> parts;
    TransformerOptions options;
    options.progress = [&parts](double part) { parts.push_back(part); };
    QVERIFY(torchFactory()(config, support::randomWeights(config, 1), options).hasValue());
    QVERIFY(std::is_sorted(parts.begin(), parts.end()));
    QVERIFY(parts.size() > 30);
    QCOMPARE(parts.back(), 1.0);
}

void TorchLoadingTest::weightsAreKeptInTheirPrecision() {
    const ModelConfig config = support::tinyConfig();
    const support::MemoryWeights weights = support::randomWeights(config, 1);
    std::size_t values = 0;
    for (const TensorInfo& tensor : weights.tensors())
        values += static_cast<std::size_t>(tensor.rows() * tensor.columns());
    const std::size_t norms = 7 * 48; // float32 in bfloat16 too
    QCOMPARE(makeTorch(config, weights, Precision::F32)->weightBytes(), values * 4);
    QCOMPARE(makeTorch(config, weights, Precision::F64)->weightBytes(), values * 8);
    QCOMPARE(makeTorch(config, weights, Precision::BF16)->weightBytes(), values * 2 + norms * 2);
}

void TorchLoadingTest::theNumberOfThreadsIsFollowed() {
    // Threads cannot be seen from here; results can: any number must give a working model.
    const ModelConfig config = support::tinyConfig();
    const support::MemoryWeights weights = support::randomWeights(config, 1);
    const std::vector<TokenId> ids = {5, 6, 7};
    for (const int threads : {1, 2, 3}) {
        const auto model = std::move(torchFactory()(config, weights, {.threads = threads})).value();
        KvCache cache = support::emptyCache(*model, 4);
        const auto logits = support::runChain(*model, cache, LayerPlan::full(3), ids, 3);
        QCOMPARE(logits.size(), std::size_t{3});
    }
}

QTEST_GUILESS_MAIN(TorchLoadingTest)
#include "torch_loading_test.moc"
