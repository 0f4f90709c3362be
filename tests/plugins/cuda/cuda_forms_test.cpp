// SPDX-License-Identifier: Apache-2.0
// Quantised weights on an emulated GPU: the same whole numbers as in the cpu backend, so nearly the
// same logits, for every type of a file and for 8 bits that were asked for.
#include "engine/loading/model_files.h"
#include "engine/model/cpu/cpu_backend.h"
#include "tests/plugins/cuda/cuda_support.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/models/mixed_weights.h"

#include <QDir>
#include <QTest>

#include <algorithm>
#include <cmath>

using namespace engine;
using backend_cuda::EmulatedDevice;

namespace {

using Rows = std::vector<std::vector<double>>;

constexpr int kRows = 9;

/// Matrices of several slabs and strips, in columns that every type of a file can have.
ModelConfig blockConfig() {
    ModelConfig config = support::layeredConfig(2);
    config.hiddenSize = 256;
    config.mlpSize = 768;
    config.headCount = 4;
    config.headDim = 64;
    return config;
}

/// Logits of some tokens, with keys and values in float32.
Rows rowsOf(Transformer& transformer, std::size_t rowsAtOnce) {
    KvCache cache = support::emptyCache(transformer, kRows);
    return support::runChain(transformer,
                             cache,
                             LayerPlan::full(transformer.config().layerCount),
                             support::someIds(kRows),
                             rowsAtOnce);
}

std::unique_ptr<Transformer>
onGpu(const ModelConfig& config, const WeightSource& weights, const std::string& form = "auto") {
    return support::makeOn(std::make_shared<EmulatedDevice>(1),
                           config,
                           weights,
                           {{"weights", form}, {"kv", std::string("f32")}});
}

/// The same by the plain loops of the cpu backend.
Rows cpuRows(const ModelConfig& config,
             const WeightSource& weights,
             WeightForm form = WeightForm::File) {
    const auto cpu = support::valueOf(makeCpuTransformer(
        config,
        weights,
        {.threads = 1, .weights = form, .kvType = KvType::F32, .instructionSet = "scalar"}));
    return rowsOf(*cpu, kRows);
}

double distanceOf(const std::vector<double>& found, const std::vector<double>& expected) {
    double largest = 0.0;
    for (std::size_t i = 0; i < found.size(); ++i)
        largest = std::max(largest, std::abs(found[i] - expected[i]));
    return largest;
}

/// Whether the logits differ as sums in another order do. Both backends round to the same whole
/// numbers, but for those that lie within that difference of the middle between two; such a number
/// shows in its row, and one row in so few may have one.
bool agree(const Rows& found, const Rows& expected) {
    std::vector<double> apart;
    for (std::size_t row = 0; row < expected.size(); ++row)
        apart.push_back(distanceOf(found[row], expected[row]));
    std::sort(apart.begin(), apart.end());
    const bool isIt = apart[apart.size() - 2] <= 1e-4 && apart.back() <= 0.05;
    if (!isIt)
        qWarning() << apart;
    return isIt;
}

} // namespace

class CudaFormsTest : public QObject {
    Q_OBJECT

private slots:
    void storedTypesAgreeWithTheCpuBackend_data();
    void storedTypesAgreeWithTheCpuBackend();
    void mixedTypesAgreeWithTheCpuBackend();
    void aGateInAnotherFormIsHeldInFloat32();
    void plainWeightsInEightBitsAgreeWithTheCpuBackend();
    void filesAgreeWithTheCpuBackend_data();
    void filesAgreeWithTheCpuBackend();
    void whatHasNoNarrowFormIsTold();
};

void CudaFormsTest::storedTypesAgreeWithTheCpuBackend_data() {
    QTest::addColumn<int>("type");
    QTest::addColumn<bool>("isEightBit");
    for (const TensorType type : {TensorType::Q8_0,
                                  TensorType::Q4_0,
                                  TensorType::Q4_1,
                                  TensorType::Q3_K,
                                  TensorType::Q4_K,
                                  TensorType::Q5_K,
                                  TensorType::Q6_K,
                                  TensorType::IQ4_XS})
        QTest::newRow(tensorTypeName(type).data()) << static_cast<int>(type) << false;
    QTest::newRow("Q4_0 in 8 bits") << static_cast<int>(TensorType::Q4_0) << true;
    QTest::newRow("Q4_K in 8 bits") << static_cast<int>(TensorType::Q4_K) << true;
}

void CudaFormsTest::storedTypesAgreeWithTheCpuBackend() {
    QFETCH(const int, type);
    QFETCH(const bool, isEightBit);
    const auto stored = static_cast<TensorType>(type);
    const bool isWide = blockLayout(stored).values == 256;
    const ModelConfig config = isWide ? blockConfig() : support::unevenConfig();
    const support::StoredWeights weights(support::randomWeights(config, 11), stored);
    const auto transformer = onGpu(config, weights, isEightBit ? "int8" : "auto");
    const Rows found = rowsOf(*transformer, kRows);
    QVERIFY(
        agree(found, cpuRows(config, weights, isEightBit ? WeightForm::Int8 : WeightForm::File)));
    QVERIFY(found == rowsOf(*transformer, 1));
}

/// Queries, keys and values of three forms.
void CudaFormsTest::mixedTypesAgreeWithTheCpuBackend() {
    const ModelConfig config = blockConfig();
    support::MixedWeights weights(support::randomWeights(config, 11), TensorType::Q4_K);
    weights.store("k_proj", TensorType::Q8_0);
    weights.store("v_proj", TensorType::Q6_K);
    weights.store("embed_tokens", TensorType::Q6_K);
    const auto transformer = onGpu(config, weights);
    QVERIFY(agree(rowsOf(*transformer, kRows), cpuRows(config, weights)));
}

/// With what it multiplies, so their rows are not rounded.
void CudaFormsTest::aGateInAnotherFormIsHeldInFloat32() {
    const ModelConfig config = blockConfig();
    support::MixedWeights weights(support::randomWeights(config, 11), TensorType::Q4_K);
    weights.store("up_proj", TensorType::Q8_0);
    const auto transformer = onGpu(config, weights);
    const double apart =
        distanceOf(rowsOf(*transformer, kRows).front(), cpuRows(config, weights).front());
    QVERIFY2(apart > 1e-6 && apart <= 0.1, qPrintable(QString::number(apart)));
}

void CudaFormsTest::plainWeightsInEightBitsAgreeWithTheCpuBackend() {
    const ModelConfig config = support::unevenConfig();
    const support::MemoryWeights weights = support::randomWeights(config, 11);
    const auto transformer = onGpu(config, weights, "int8");
    QVERIFY(agree(rowsOf(*transformer, kRows), cpuRows(config, weights, WeightForm::Int8)));
}

void CudaFormsTest::filesAgreeWithTheCpuBackend_data() {
    QTest::addColumn<QString>("path");
    if (!support::hasGoldenData())
        QSKIP("the golden data does not lie beside the checkout");
    for (const QString folder : {"gguf/", "families/gguf/"})
        for (const QString& name : QDir(support::goldenPath(folder)).entryList({"*Q*.gguf"}))
            QTest::newRow(qPrintable(name)) << support::goldenPath(folder + name);
}

void CudaFormsTest::filesAgreeWithTheCpuBackend() {
    QFETCH(const QString, path);
    const ModelFiles files = ModelFiles::open(path.toStdString()).value();
    const auto weights = files.weights();
    QVERIFY(weights.hasValue());
    const ModelConfig config = files.config().value();
    const auto transformer = onGpu(config, *weights.value());
    QVERIFY(agree(rowsOf(*transformer, kRows), cpuRows(config, *weights.value())));
}

/// Two-bit numbers have minima for 16 of them, for which there is no form.
void CudaFormsTest::whatHasNoNarrowFormIsTold() {
    const ModelConfig config = blockConfig();
    const auto device = std::make_shared<EmulatedDevice>();
    BackendRegistry registry("");
    backend_cuda::registerBackend(registry, support::machineOf(device));
    const BackendInfo cuda = registry.info("cuda").value();
    const auto forecast = [&](TensorType type) {
        const support::StoredWeights weights(support::randomWeights(config, 11), type);
        return cuda.forecast(config, weights, {}, 8).value();
    };
    const LoadForecast two = forecast(TensorType::Q2_K);
    QCOMPARE(two.arithmeticName, std::string("float32"));
    QVERIFY(two.wideningNote.find("no smaller form") != std::string::npos);
    const LoadForecast four = forecast(TensorType::Q4_K);
    QCOMPARE(four.arithmeticName, std::string("4-bit, scale and minimum per 32"));
    QVERIFY(four.memory.weightBytes < two.memory.weightBytes / 4);
}

QTEST_GUILESS_MAIN(CudaFormsTest)
#include "cuda_forms_test.moc"
