// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/gguf/quantized_blocks.h"
#include "engine/loading/network/synthetic_model.h"

#include <QTest>

#include <cmath>
#include <set>

using namespace engine;

namespace {

const std::string kQuery = "model.layers.0.self_attn.q_proj.weight";

ModelConfig config() { return syntheticConfig("1b", 1).value(); }

std::vector<float> rowsOf(const SyntheticWeights& weights,
                          const std::string& name,
                          std::uint64_t first,
                          std::uint64_t count) {
    const TensorInfo* tensor = weights.find(name);
    std::vector<float> values(count * tensor->columns());
    if (!weights.readRows(*tensor, first, count, values))
        qFatal("made-up rows cannot be read");
    return values;
}

} // namespace

class SyntheticModelTest : public QObject {
    Q_OBJECT

private slots:
    void shapesHaveAboutTheirNumberOfParameters();
    void otherNamesAreRefused();
    void valuesAreUniformAndKeepActivationsNearOne_data();
    void valuesAreUniformAndKeepActivationsNearOne();
    void rowsDoNotDependOnHowTheyAreRead();
    void tensorsAndRowsDiffer();
    void normsAreOnes();
};

void SyntheticModelTest::shapesHaveAboutTheirNumberOfParameters() {
    const auto parameters = [](std::string_view shape) {
        const SyntheticWeights weights(syntheticConfig(shape, 0).value(), TensorType::BF16);
        return static_cast<double>(weights.byteSize()) / 2e9;
    };
    QVERIFY(std::abs(parameters("1b") - 1.1) < 0.05);
    QVERIFY(std::abs(parameters("3b") - 3.4) < 0.2);
    QVERIFY(std::abs(parameters("7b") - 6.74) < 0.05);
}

void SyntheticModelTest::otherNamesAreRefused() {
    QCOMPARE(syntheticConfig("2b", 0).error().code, ErrorCode::InvalidInput);
    QCOMPARE(syntheticConfig("1b", -1).error().code, ErrorCode::InvalidInput);
    QCOMPARE(syntheticConfig("7b", 3).value().layerCount, 3);
}

void SyntheticModelTest::valuesAreUniformAndKeepActivationsNearOne_data() {
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("bytesOfARow");
    QTest::newRow("F32") << static_cast<int>(TensorType::F32) << 2048 * 4;
    QTest::newRow("BF16") << static_cast<int>(TensorType::BF16) << 2048 * 2;
    QTest::newRow("Q8_0") << static_cast<int>(TensorType::Q8_0) << 2048 / 32 * 34;
    QTest::newRow("Q4_1") << static_cast<int>(TensorType::Q4_1) << 2048 / 32 * 20;
}

void SyntheticModelTest::valuesAreUniformAndKeepActivationsNearOne() {
    QFETCH(int, type);
    QFETCH(int, bytesOfARow);
    const SyntheticWeights weights(config(), static_cast<TensorType>(type));
    QCOMPARE(weights.find(kQuery)->byteSize, static_cast<std::uint64_t>(2048) * bytesOfARow);
    const auto values = rowsOf(weights, kQuery, 0, 64);
    double sum = 0;
    double squares = 0;
    for (const float value : values) {
        QVERIFY(std::isfinite(value) && std::abs(value) < 0.0384F); // sqrt(3 / 2048) is 0.03827
        sum += static_cast<double>(value);
        squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const auto count = static_cast<double>(values.size());
    // A row of 2048 such weights gives an output of variance 1 for inputs of variance 1.
    QVERIFY2(std::abs(squares / count * 2048.0 - 1.0) < 0.15, qPrintable(QString::number(squares)));
    QVERIFY(std::abs(sum / count) < 0.001);
}

void SyntheticModelTest::rowsDoNotDependOnHowTheyAreRead() {
    const SyntheticWeights weights(config(), TensorType::Q4_1);
    const auto together = rowsOf(weights, kQuery, 5, 3);
    const auto alone = rowsOf(weights, kQuery, 6, 1);
    QVERIFY(std::equal(alone.begin(), alone.end(), together.begin() + 2048));
    const TensorInfo* tensor = weights.find(kQuery);
    std::vector<std::byte> raw(2048 / 32 * 20);
    QVERIFY(weights.readRawRows(*tensor, 6, 1, raw).hasValue());
    std::vector<float> values(2048);
    dequantize(TensorType::Q4_1, raw, values);
    QCOMPARE(values, alone);
}

void SyntheticModelTest::tensorsAndRowsDiffer() {
    const SyntheticWeights weights(config(), TensorType::F32);
    std::set<float> firsts;
    for (const TensorInfo& tensor : weights.tensors())
        if (tensor.shape.size() == 2)
            for (const std::uint64_t row : {0U, 1U, 255U})
                firsts.insert(rowsOf(weights, tensor.name, row, 1).front());
    QCOMPARE(firsts.size(), std::size_t{27}); // nine matrices
}

void SyntheticModelTest::normsAreOnes() {
    const SyntheticWeights weights(config(), TensorType::Q8_0);
    QCOMPARE(weights.find("model.norm.weight")->type, TensorType::F32);
    for (const float value : rowsOf(weights, "model.norm.weight", 0, 1))
        QCOMPARE(value, 1.0F);
    QVERIFY(weights.find("model.layers.1.input_layernorm.weight") == nullptr);
}

QTEST_GUILESS_MAIN(SyntheticModelTest)
#include "synthetic_model_test.moc"
