// SPDX-License-Identifier: Apache-2.0
#include "engine/model/memory_need.h"
#include "tests/support/tiny_model.h"

#include <QTest>

#include <limits>

using namespace engine;

class MemoryNeedTest : public QObject {
    Q_OBJECT

private slots:
    void weightsAndCacheAreThoseOfTheLoadedModel_data();
    void weightsAndCacheAreThoseOfTheLoadedModel();
    void bfloat16HoldsNormsAsFloat32();
    void monstrousSizesDoNotWrap();
};

void MemoryNeedTest::weightsAndCacheAreThoseOfTheLoadedModel_data() {
    QTest::addColumn<bool>("isDouble");
    QTest::addColumn<bool>("isTied");
    QTest::addColumn<bool>("hasBiases");
    QTest::newRow("float32") << false << false << false;
    QTest::newRow("float64") << true << false << false;
    QTest::newRow("float32, tied head") << false << true << false;
    QTest::newRow("float64, biases") << true << false << true;
}

void MemoryNeedTest::weightsAndCacheAreThoseOfTheLoadedModel() {
    QFETCH(const bool, isDouble);
    QFETCH(const bool, isTied);
    QFETCH(const bool, hasBiases);
    ModelConfig config = support::tinyConfig();
    config.tiedHead = isTied;
    config.qkvBias = config.outputBias = config.mlpBias = hasBiases;
    const Precision precision = isDouble ? Precision::F64 : Precision::F32;
    const auto model =
        makePlainTransformer(config, support::randomWeights(config, 1), {.precision = precision});
    QVERIFY(model.hasValue());
    const MemoryNeed need = memoryNeed(config, precision, 300);
    QCOMPARE(need.weightBytes, std::uint64_t{model.value()->weightBytes()});
    QCOMPARE(need.cacheBytes,
             std::uint64_t{model.value()->makeCache(300).value().storage().byteSize()});
    QCOMPARE(memoryNeed(config, precision, 600).cacheBytes, 2 * need.cacheBytes);
    QVERIFY(need.scratchBytes > 3 * need.cacheBytes); // 1025 slots
    QVERIFY(need.passBytes > 0);
    QCOMPARE(need.totalBytes(),
             need.weightBytes + need.cacheBytes + need.scratchBytes + need.passBytes);
}

void MemoryNeedTest::bfloat16HoldsNormsAsFloat32() {
    const ModelConfig config = support::tinyConfig();
    const MemoryNeed wide = memoryNeed(config, Precision::F32, 300);
    const MemoryNeed narrow = memoryNeed(config, Precision::BF16, 300);
    const auto norms = static_cast<std::uint64_t>(config.hiddenSize) *
                       (2U * static_cast<std::uint64_t>(config.layerCount) + 1U);
    QCOMPARE(narrow.weightBytes, wide.weightBytes / 2 + norms * 2);
    QCOMPARE(narrow.cacheBytes, wide.cacheBytes / 2);
}

void MemoryNeedTest::monstrousSizesDoNotWrap() {
    ModelConfig config = support::tinyConfig();
    config.layerCount = config.hiddenSize = config.mlpSize = config.vocabSize =
        std::numeric_limits<int>::max();
    const MemoryNeed need = memoryNeed(config, Precision::F64, 1);
    QVERIFY(need.weightBytes > std::uint64_t{1} << 60U);
    QVERIFY(need.totalBytes() >= need.weightBytes);
}

QTEST_GUILESS_MAIN(MemoryNeedTest)
#include "memory_need_test.moc"
