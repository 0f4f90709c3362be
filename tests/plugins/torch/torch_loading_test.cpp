// SPDX-License-Identifier: Apache-2.0
#include "tests/plugins/torch/torch_support.h"
#include "tests/support/models/plain_model.h"
#include "tests/support/models/stored_weights.h"
#include "tests/support/transformers/forward_helpers.h"

#include <QTest>

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

/// What the torch backend makes of weights: each precision of its own, and a type of GGUF of which
/// no golden model is stored.
class TorchLoadingTest : public QObject {
    Q_OBJECT

private slots:
    void whatOverflowsInBfloat16IsRefusedThere();
    void weightsAreKeptInTheirPrecision();
    void aModelOfMxfp4ComputesAsOnThePlainBackend();
    void aModelWithoutRoomForItsContextIsRefused();
};

void TorchLoadingTest::whatOverflowsInBfloat16IsRefusedThere() {
    const float largest = std::numeric_limits<float>::max();
    QVERIFY(loadWith(largest, Precision::F32).hasValue());
    QVERIFY(loadWith(largest, Precision::F64).hasValue());
    QVERIFY(loadWith(3.38e38F, Precision::BF16).hasValue());
    const auto loaded = loadWith(largest, Precision::BF16);
    QCOMPARE(loaded.error().code, ErrorCode::Numeric);
    QVERIFY(mentions(loaded.error(), "bfloat16"));
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

void TorchLoadingTest::aModelOfMxfp4ComputesAsOnThePlainBackend() {
    const ModelConfig config = support::expertConfig();
    const support::StoredWeights weights(support::randomWeights(config, 3), TensorType::MXFP4);
    const auto own = makeTorch(config, weights, Precision::F32);
    const auto plain = support::plainModel(config, weights);
    const std::vector<TokenId> ids = torch_support::randomIds(20);
    const auto logitsOn = [&](Transformer& transformer) {
        KvCache cache = support::emptyCache(transformer, 32);
        return support::runChain(transformer, cache, LayerPlan::full(config.layerCount), ids, 7);
    };
    const double error = support::relativeError(logitsOn(*own), logitsOn(*plain));
    QVERIFY2(error <= 1e-4, qPrintable(QString::number(error)));
}

void TorchLoadingTest::aModelWithoutRoomForItsContextIsRefused() {
    const ModelConfig config = support::tinyConfig();
    const auto refused = torchFactory()(config,
                                        support::randomWeights(config, 1),
                                        {.cacheSlots = std::numeric_limits<Position>::max()});
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::NoMemory);
    QVERIFY(mentions(refused.error(), "context of 2147483647 tokens"));
}

QTEST_GUILESS_MAIN(TorchLoadingTest)
#include "torch_loading_test.moc"
