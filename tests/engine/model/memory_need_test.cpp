// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cpu/cpu_backend.h"
#include "engine/model/memory_need.h"
#include "engine/model/plain/plain_backend.h"
#include "tests/support/models/stored_weights.h"
#include "tests/support/models/tiny_model.h"

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
    void packedNeedIsThatOfTheLoadedModel_data();
    void packedNeedIsThatOfTheLoadedModel();
    void aPackedModelWithoutRoomForItsContextIsRefused();
    void aWidenedModelWithoutRoomForItsContextIsRefused();
    void aModelThatLacksATensorHasNoPackedNeed();
    void widerWeightsThanInTheFileAreExplained_data();
    void widerWeightsThanInTheFileAreExplained();
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

void MemoryNeedTest::packedNeedIsThatOfTheLoadedModel_data() {
    QTest::addColumn<int>("form");
    QTest::addColumn<int>("kvType");
    QTest::addColumn<bool>("isTied");
    QTest::addColumn<QString>("arithmetic");
    QTest::addColumn<QString>("kvName");
    QTest::newRow("as in the file")
        << int(WeightForm::File) << int(KvType::F16) << false << "float32"
        << "float16";
    QTest::newRow("tied") << int(WeightForm::Auto) << int(KvType::F32) << true << "float32"
                          << "float32";
    QTest::newRow("int8") << int(WeightForm::Int8) << int(KvType::F16) << false
                          << "8-bit, scale per 32"
                          << "float16";
    QTest::newRow("bf16") << int(WeightForm::Bf16) << int(KvType::BF16) << true << "bfloat16"
                          << "bfloat16";
    QTest::newRow("keys and values of 8 bits")
        << int(WeightForm::Bf16) << int(KvType::Int8) << false << "bfloat16"
        << "int8";
}

void MemoryNeedTest::packedNeedIsThatOfTheLoadedModel() {
    QFETCH(const int, form);
    QFETCH(const int, kvType);
    QFETCH(const bool, isTied);
    QFETCH(const QString, arithmetic);
    QFETCH(const QString, kvName);
    ModelConfig config = support::tinyConfig();
    config.tiedHead = isTied;
    config.qkvBias = config.mlpBias = true;
    const auto weights = support::randomWeights(config, 1);
    const cpu::Options options{.threads = 1,
                               .weights = static_cast<WeightForm>(form),
                               .kvType = static_cast<KvType>(kvType),
                               .instructionSet = "scalar",
                               .cacheSlots = 300};
    const auto model = makeCpuTransformer(config, weights, options);
    QVERIFY(model.hasValue());
    const auto need = cpu::forecast(config, weights, options, 300);
    QVERIFY(need.hasValue());
    QCOMPARE(need.value().memory.weightBytes, std::uint64_t{model.value()->weightBytes()});
    QCOMPARE(need.value().memory.cacheBytes,
             std::uint64_t{model.value()->makeCache(300).value().storage().byteSize()});
    QCOMPARE(need.value().arithmeticName, model.value()->arithmeticName());
    QCOMPARE(QString::fromStdString(need.value().arithmeticName), arithmetic);
    QCOMPARE(model.value()->kvTypeName(), std::string_view(kvName.toStdString()));
    QCOMPARE(need.value().kvTypeName, kvName.toStdString());
    QCOMPARE(model.value()->instructionSet(), std::string_view("scalar"));
    QCOMPARE(need.value().instructionSet, std::string("scalar"));
}

void MemoryNeedTest::aPackedModelWithoutRoomForItsContextIsRefused() {
    const ModelConfig config = support::tinyConfig();
    const auto weights = support::randomWeights(config, 1);
    double told = 0.0;
    const auto refused = makeCpuTransformer(config,
                                            weights,
                                            {.cacheSlots = std::numeric_limits<Position>::max(),
                                             .progress = [&](double part) { told = part; }});
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::NoMemory);
    QCOMPARE(told, 0.0); // nothing was packed
    const QString message = QString::fromStdString(refused.error().message);
    QVERIFY2(message.count(" GB ") == 2 && message.contains("context of 2147483647 tokens"),
             qPrintable(message));
}

void MemoryNeedTest::aWidenedModelWithoutRoomForItsContextIsRefused() {
    const ModelConfig config = support::tinyConfig();
    const auto refused = makePlainTransformer(config,
                                              support::randomWeights(config, 1),
                                              {.cacheSlots = std::numeric_limits<Position>::max()});
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::NoMemory);
    const QString message = QString::fromStdString(refused.error().message);
    QVERIFY2(message.count(" GB ") == 2 && message.contains("context of 2147483647 tokens"),
             qPrintable(message));
}

void MemoryNeedTest::aModelThatLacksATensorHasNoPackedNeed() {
    ModelConfig config = support::tinyConfig();
    const auto weights = support::randomWeights(config, 1);
    ++config.layerCount;
    const auto need = cpu::forecast(config, weights, {}, 1);
    QVERIFY(!need);
    QCOMPARE(need.error().code, ErrorCode::NotFound);
}

void MemoryNeedTest::widerWeightsThanInTheFileAreExplained_data() {
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("form");
    QTest::addColumn<QString>("because");
    const auto row = [](TensorType type, WeightForm form, const char* because) {
        const std::string name(tensorTypeName(type));
        QTest::addRow("%s %d", name.c_str(), int(form)) << int(type) << int(form) << because;
    };
    const char* none = "";
    row(TensorType::Q2_K,
        WeightForm::File,
        "the cpu backend holds Q2_K as float32: it has no smaller form that loses nothing.");
    row(TensorType::Q4_K,
        WeightForm::Auto,
        "the cpu backend holds Q4_K as float32, which is fastest for a model this small.");
    row(TensorType::BF16,
        WeightForm::F32,
        "the cpu backend holds BF16 as float32, as was asked for.");
    row(TensorType::Q3_K, WeightForm::File, none);
    row(TensorType::Q4_K, WeightForm::File, none);
    row(TensorType::IQ4_XS, WeightForm::File, none);
    row(TensorType::Q8_0, WeightForm::File, none);
    row(TensorType::BF16, WeightForm::File, none);
    row(TensorType::F32, WeightForm::Auto, none);
}

void MemoryNeedTest::widerWeightsThanInTheFileAreExplained() {
    QFETCH(const int, type);
    QFETCH(const int, form);
    QFETCH(const QString, because);
    ModelConfig config = support::tinyConfig();
    config.hiddenSize = config.mlpSize = 256;
    config.headDim = 256 / config.headCount;
    const support::StoredWeights weights(support::randomWeights(config, 1),
                                         static_cast<TensorType>(type));
    const auto need =
        cpu::forecast(config, weights, {.weights = static_cast<WeightForm>(form)}, 300);
    QVERIFY2(need.hasValue(), need ? "" : need.error().message.c_str());
    const QString note = QString::fromStdString(need.value().wideningNote);
    QCOMPARE(note.section(QStringLiteral(", because "), 1), because);
    QCOMPARE(note.startsWith(QStringLiteral("The weights take ")), !because.isEmpty());
    // A load that is refused for lack of memory says it, too.
    const auto refused = makeCpuTransformer(config,
                                            weights,
                                            {.weights = static_cast<WeightForm>(form),
                                             .cacheSlots = std::numeric_limits<Position>::max()});
    QCOMPARE(refused.error().code, ErrorCode::NoMemory);
    QCOMPARE(QString::fromStdString(refused.error().message).contains(because), true);
    QCOMPARE(refused.error().message.ends_with("are free."), because.isEmpty());
    // A backend that widens all says so of every file that is narrower.
    const auto widened = widenedForecast(config, weights, {.precision = Precision::F32}, 300);
    QCOMPARE(widened.value().wideningNote.empty(),
             static_cast<TensorType>(type) == TensorType::F32);
}

QTEST_GUILESS_MAIN(MemoryNeedTest)
#include "memory_need_test.moc"
