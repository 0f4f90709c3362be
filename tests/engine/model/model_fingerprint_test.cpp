// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/model_files.h"
#include "engine/model/model_fingerprint.h"
#include "tests/support/models/tiny_model.h"

#include <QElapsedTimer>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

#include <cmath>

using namespace engine;

namespace {

QString fingerprint(const ModelConfig& config, const WeightSource& weights) {
    const auto result = modelFingerprint(config, weights);
    return result ? QString::fromStdString(result.value()) : QString();
}

/// The same tensors in the order of their names backwards, one of them renamed if asked for.
support::MemoryWeights reordered(support::MemoryWeights& weights,
                                 const std::string& from = "",
                                 const std::string& to = "") {
    support::MemoryWeights copy;
    for (std::size_t i = weights.tensors().size(); i-- > 0;) {
        const TensorInfo& tensor = weights.tensors()[i];
        copy.add(tensor.name == from ? to : tensor.name, tensor.shape, weights.values(tensor.name));
    }
    return copy;
}

/// Refuses to give any bytes.
class UnreadableWeights : public support::MemoryWeights {
public:
    explicit UnreadableWeights(const support::MemoryWeights& weights)
        : support::MemoryWeights(weights) {}

    Result<void> readRawRows(const TensorInfo&,
                             std::uint64_t,
                             std::uint64_t,
                             std::span<std::byte>) const override {
        return Error{ErrorCode::Io, "the disk is gone", ""};
    }
};

} // namespace

class ModelFingerprintTest : public QObject {
    Q_OBJECT

private slots:
    void equalModelsAgree();
    void oneChangedWeightDiffers_data();
    void oneChangedWeightDiffers();
    void aRenamedTensorDiffers();
    void anotherShapeDiffers();
    void everyNumberOfTheConfigCounts();
    void whatIsWrittenForPeopleDoesNotCount();
    void tensorsThatAreEmptyOrHaveHugeRowsAreOnlyNamed();
    void unreadableWeightsAreAnError();
    void aModelOnDiskIsAlwaysTheSame();
};

void ModelFingerprintTest::equalModelsAgree() {
    const ModelConfig config = support::tinyConfig();
    support::MemoryWeights weights = support::randomWeights(config, 1);
    const QString name = fingerprint(config, weights);
    QCOMPARE(name.size(), 32);
    QVERIFY(name.contains(QRegularExpression("^[0-9a-f]+$")));
    QCOMPARE(fingerprint(config, support::randomWeights(config, 1)), name);
    QCOMPARE(fingerprint(config, reordered(weights)), name);
}

void ModelFingerprintTest::oneChangedWeightDiffers_data() {
    QTest::addColumn<QString>("tensor");
    for (const char* name : {"model.embed_tokens.weight",
                             "model.layers.0.input_layernorm.weight",
                             "model.layers.1.self_attn.v_proj.weight",
                             "model.layers.2.mlp.down_proj.weight",
                             "model.norm.weight",
                             "lm_head.weight"})
        QTest::newRow(name) << name;
}

void ModelFingerprintTest::oneChangedWeightDiffers() {
    QFETCH(const QString, tensor);
    const ModelConfig config = support::tinyConfig();
    support::MemoryWeights weights = support::randomWeights(config, 1);
    const QString before = fingerprint(config, weights);
    float& weight = weights.values(tensor.toStdString())[5];
    weight = std::nextafter(weight, 10.0F);
    QVERIFY(fingerprint(config, weights) != before);
}

void ModelFingerprintTest::aRenamedTensorDiffers() {
    const ModelConfig config = support::tinyConfig();
    support::MemoryWeights weights = support::randomWeights(config, 1);
    const auto renamed =
        reordered(weights, "model.layers.1.mlp.up_proj.weight", "model.layers.1.mlp.gate.weight");
    QVERIFY(fingerprint(config, renamed) != fingerprint(config, weights));
}

void ModelFingerprintTest::anotherShapeDiffers() {
    const ModelConfig config = support::tinyConfig();
    support::MemoryWeights wide;
    wide.add("t", {2, 8}, std::vector<float>(16, 1.0F));
    support::MemoryWeights tall;
    tall.add("t", {8, 2}, std::vector<float>(16, 1.0F));
    QVERIFY(fingerprint(config, wide) != fingerprint(config, tall));
}

void ModelFingerprintTest::everyNumberOfTheConfigCounts() {
    const ModelConfig original = support::tinyConfig();
    const support::MemoryWeights weights = support::randomWeights(original, 1);
    std::vector<ModelConfig> variants(24, original);
    std::size_t next = 0;
    const auto variant = [&]() -> ModelConfig& { return variants[next++]; };
    variant().architecture = "mistral";
    variant().layerCount += 1;
    variant().hiddenSize += 1;
    variant().mlpSize += 1;
    variant().headCount += 1;
    variant().kvHeadCount += 1;
    variant().headDim += 1;
    variant().vocabSize += 1;
    variant().contextLength += 1;
    variant().normEpsilon *= 2;
    variant().ropeTheta *= 2;
    variant().ropeScaling.kind = RopeScalingKind::Linear;
    variant().ropeScaling.factor = 2;
    variant().ropeScaling.lowFrequencyFactor = 2;
    variant().ropeScaling.highFrequencyFactor = 2;
    variant().ropeScaling.originalContextLength = 2;
    variant().ropeFrequencyFactors = {1.0F};
    variant().layerWindows[1] = 7;
    variant().qkvBias = true;
    variant().outputBias = true;
    variant().mlpBias = true;
    variant().tiedHead = true;
    variant().bosId = 3;
    variant().eosIds = {3};
    QCOMPARE(next, variants.size());
    QSet<QString> names = {fingerprint(original, weights)};
    for (const ModelConfig& config : variants)
        names.insert(fingerprint(config, weights));
    QCOMPARE(names.size(), static_cast<qsizetype>(variants.size() + 1));
}

void ModelFingerprintTest::whatIsWrittenForPeopleDoesNotCount() {
    const ModelConfig original = support::tinyConfig();
    const support::MemoryWeights weights = support::randomWeights(original, 1);
    ModelConfig noted = original;
    noted.notes = {"a remark"};
    noted.storedType = "BF16";
    QCOMPARE(fingerprint(noted, weights), fingerprint(original, weights));
}

void ModelFingerprintTest::tensorsThatAreEmptyOrHaveHugeRowsAreOnlyNamed() {
    const ModelConfig config = support::tinyConfig();
    support::MemoryWeights weights;
    weights.add("empty", {0, 4}, {});
    weights.add("nothing", {4, 0}, {});
    weights.add("scalar", {}, {1.0F});
    weights.add("long", {1, 2'000'000}, std::vector<float>(2'000'000, 0.0F));
    const QString name = fingerprint(config, weights);
    QCOMPARE(name.size(), 32);
    weights.values("long")[0] = 1.0F;
    QCOMPARE(fingerprint(config, weights), name);
    weights.values("scalar")[0] = 2.0F;
    QVERIFY(fingerprint(config, weights) != name);
}

void ModelFingerprintTest::unreadableWeightsAreAnError() {
    const ModelConfig config = support::tinyConfig();
    const auto result =
        modelFingerprint(config, UnreadableWeights(support::randomWeights(config, 1)));
    QVERIFY(!result);
    QVERIFY(result.error().code == ErrorCode::Io);
}

void ModelFingerprintTest::aModelOnDiskIsAlwaysTheSame() {
    const std::filesystem::path path =
        SWIFT_STUDIO_CACHE_DIR "/models/SmolLM2-135M-Instruct.Q4_1.gguf";
    if (!std::filesystem::exists(path))
        QSKIP("the default model is not in the cache folder");
    QString names[2];
    for (QString& name : names) {
        const auto files = ModelFiles::open(path);
        QVERIFY(files);
        const auto config = files.value().config();
        const auto weights = files.value().weights();
        QVERIFY(config && weights);
        QElapsedTimer timer;
        timer.start();
        name = fingerprint(config.value(), *weights.value());
        qInfo("fingerprint %s in %.1f ms",
              qPrintable(name),
              static_cast<double>(timer.nsecsElapsed()) / 1e6);
    }
    QCOMPARE(names[0].size(), 32);
    QCOMPARE(names[0], names[1]);
}

QTEST_APPLESS_MAIN(ModelFingerprintTest)
#include "model_fingerprint_test.moc"
