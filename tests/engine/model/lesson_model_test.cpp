// SPDX-License-Identifier: Apache-2.0
// Lesson models: which layers are copies, that copies are near-silent, what weights they need, and
// that without its copies a lesson model is the model from which it was made.
#include "engine/loading/model_files.h"
#include "engine/model/backends/backend_registry.h"
#include "engine/model/memory_need.h"
#include "engine/model/model_fingerprint.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/models/plain_model.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/usable_backends.h"

#include <QDir>
#include <QTest>

#include <algorithm>
#include <cmath>

using namespace engine;

namespace {

using Logits = std::vector<std::vector<double>>;

const std::vector<TokenId> kIds = {5, 9, 3, 17, 2, 11, 7, 5, 9, 1, 23, 4};

Logits logitsOf(Transformer& transformer, const LayerPlan& plan) {
    KvCache cache = support::emptyCache(transformer, 32);
    return support::runChain(transformer, cache, plan, kIds, 5);
}

Logits logitsOf(Transformer& transformer) {
    return logitsOf(transformer, LayerPlan::full(transformer.config().layerCount));
}

LayerPlan withoutCopies(const ModelConfig& config) {
    LayerPlan plan = LayerPlan::full(config.layerCount);
    for (const int layer : config.silentCopies())
        plan.attention[static_cast<std::size_t>(layer)] =
            plan.mlp[static_cast<std::size_t>(layer)] = SublayerAction::Skip;
    return plan;
}

double largestDifference(const Logits& a, const Logits& b) {
    double largest = 0.0;
    for (std::size_t row = 0; row < a.size(); ++row)
        for (std::size_t i = 0; i < a[row].size(); ++i)
            largest = std::max(largest, std::abs(a[row][i] - b[row][i]));
    return largest;
}

/// The same network with every layer written out, copies made quiet in their weights.
support::MemoryWeights writtenOut(support::MemoryWeights& weights, const ModelConfig& planted) {
    support::MemoryWeights out;
    for (const TensorInfo& tensor : weights.tensors()) {
        const std::string prefix = "model.layers.";
        if (!tensor.name.starts_with(prefix)) {
            out.add(tensor.name, tensor.shape, weights.values(tensor.name));
            continue;
        }
        const std::string rest = tensor.name.substr(tensor.name.find('.', prefix.size()));
        const int stored = std::stoi(tensor.name.substr(prefix.size()));
        for (const int layer : {2 * stored, 2 * stored + 1})
            out.add(
                prefix + std::to_string(layer) + rest, tensor.shape, weights.values(tensor.name));
    }
    for (const int layer : planted.silentCopies())
        support::quietenLayer(out, layer, 1e-3F);
    return out;
}

} // namespace

class LessonModelTest : public QObject {
    Q_OBJECT

private slots:
    void oneOfEachPairIsTheCopyButNeverTheFirstOrLastLayer();
    void everySecondLayerIsNotTheAnswer();
    void copiesAddAThousandthOfWhatTheirOriginalsAdd();
    void withoutItsCopiesItIsTheOriginal_data();
    void withoutItsCopiesItIsTheOriginal();
    void copiesNeedNoWeights();
    void onTheCpuBackendTheyHaveWeightsOfTheirOwn();
    void itsLearntStateIsItsOwn();
    void modelsThatCannotBePlantedAreRefusedInASentence();
};

void LessonModelTest::oneOfEachPairIsTheCopyButNeverTheFirstOrLastLayer() {
    for (int layers = 2; layers < 40; ++layers) {
        const ModelConfig config = withSilentCopies(support::layeredConfig(layers)).value();
        QCOMPARE(config.layerCount, 2 * layers);
        QCOMPARE(config.storedLayerCount(), layers);
        for (int layer = 0; layer < layers; ++layer)
            QVERIFY(config.isSilentCopy(2 * layer) != config.isSilentCopy(2 * layer + 1));
        QVERIFY(!config.isSilentCopy(0) && !config.isSilentCopy(config.layerCount - 1));
        QCOMPARE(static_cast<int>(config.silentCopies().size()), layers);
    }
    QVERIFY(support::layeredConfig(4).silentCopies().empty());
}

void LessonModelTest::everySecondLayerIsNotTheAnswer() {
    const ModelConfig config = withSilentCopies(support::layeredConfig(30)).value();
    int odd = 0;
    for (const int layer : config.silentCopies())
        odd += layer % 2;
    QVERIFY2(odd >= 10 && odd <= 20, qPrintable(QString::number(odd)));
}

/// Against a network whose files hold every layer.
void LessonModelTest::copiesAddAThousandthOfWhatTheirOriginalsAdd() {
    const ModelConfig config = support::layeredConfig(5);
    support::MemoryWeights weights = support::randomWeights(config, 3);
    const ModelConfig planted = withSilentCopies(config).value();
    const auto lesson = support::plainModel(planted, weights);
    const support::MemoryWeights all = writtenOut(weights, planted);
    const auto explicitly = support::plainModel(support::layeredConfig(10), all);
    const double difference = largestDifference(logitsOf(*lesson), logitsOf(*explicitly));
    QVERIFY2(difference < 1e-6, qPrintable(QString::number(difference)));
    const double silence =
        largestDifference(logitsOf(*lesson), logitsOf(*lesson, withoutCopies(planted)));
    QVERIFY2(silence > 1e-6 && silence < 0.05, qPrintable(QString::number(silence)));
}

void LessonModelTest::withoutItsCopiesItIsTheOriginal_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("backend");
    if (!support::hasGoldenData())
        QSKIP("the golden data does not lie beside the checkout");
    BackendRegistry registry(QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    for (const QString& name :
         QDir(support::goldenPath("families")).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
        const QString path = support::goldenPath("families/" + name);
        const auto files = ModelFiles::open(path.toStdString());
        if (!files || !files.value().config()) // refused families: see model_config_test
            continue;
        for (const std::string& backend : support::usableBackends(registry))
            QTest::addRow("%s, %s", qPrintable(name), backend.c_str())
                << path << QString::fromStdString(backend);
    }
}

/// Bit for bit, in every family, because a skipped sublayer leaves the stream as it is.
void LessonModelTest::withoutItsCopiesItIsTheOriginal() {
    QFETCH(QString, path);
    QFETCH(QString, backend);
    BackendRegistry registry(QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    const TransformerFactory factory = registry.find(backend.toStdString()).value();
    ModelFiles files = ModelFiles::open(path.toStdString()).value();
    const auto weights = files.weights().value().release();
    const std::unique_ptr<const WeightSource> owner(weights);
    const auto original = factory(files.config().value(), *weights, {}).value().release();
    const std::unique_ptr<Transformer> first(original);
    files.plantCopies();
    const ModelConfig config = files.config().value();
    const auto lesson = factory(config, *weights, {});
    QVERIFY2(lesson.hasValue(), lesson ? "" : lesson.error().message.c_str());
    const Logits expected = logitsOf(*original);
    QVERIFY(logitsOf(*lesson.value(), withoutCopies(config)) == expected);
    QVERIFY(logitsOf(*lesson.value()) != expected);
}

/// In the backends that are no measure of speed.
void LessonModelTest::copiesNeedNoWeights() {
    const ModelConfig config = support::layeredConfig(6);
    const ModelConfig planted = withSilentCopies(config).value();
    const MemoryNeed one = memoryNeed(config, Precision::F32, 64);
    const MemoryNeed both = memoryNeed(planted, Precision::F32, 64);
    QCOMPARE(both.weightBytes, one.weightBytes);
    QCOMPARE(both.cacheBytes, 2 * one.cacheBytes);
    const ModelConfig experts = support::expertConfig();
    QCOMPARE(memoryNeed(withSilentCopies(experts).value(), Precision::F32, 64).weightBytes,
             memoryNeed(experts, Precision::F32, 64).weightBytes);
}

/// As in a model whose files hold every layer: what a pass reads must not come from the caches.
void LessonModelTest::onTheCpuBackendTheyHaveWeightsOfTheirOwn() {
    const ModelConfig config = support::layeredConfig(5);
    support::MemoryWeights weights = support::randomWeights(config, 3);
    const ModelConfig planted = withSilentCopies(config).value();
    const support::MemoryWeights all = writtenOut(weights, planted);
    BackendRegistry registry(QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    const TransformerFactory cpu = registry.find("cpu").value();
    const auto bytesOf = [&](const ModelConfig& shape, const WeightSource& source) {
        return cpu(shape, source, {}).value()->weightBytes();
    };
    QCOMPARE(bytesOf(planted, weights), bytesOf(support::layeredConfig(10), all));
    QVERIFY(bytesOf(planted, weights) > bytesOf(config, weights));
}

void LessonModelTest::itsLearntStateIsItsOwn() {
    const ModelConfig config = support::layeredConfig(4);
    const support::MemoryWeights weights = support::randomWeights(config, 8);
    const auto own = modelFingerprint(config, weights);
    const auto lesson = modelFingerprint(withSilentCopies(config).value(), weights);
    QVERIFY(own.hasValue() && lesson.hasValue());
    QVERIFY(own.value() != lesson.value());
}

void LessonModelTest::modelsThatCannotBePlantedAreRefusedInASentence() {
    const auto refused = [](const ModelConfig& config) {
        const auto planted = withSilentCopies(config);
        return planted ? QString() : QString::fromStdString(planted.error().message);
    };
    QCOMPARE(refused(support::layeredConfig(1)),
             "A lesson model cannot be made from a model of 1 layers.");
    QCOMPARE(refused(withSilentCopies(support::layeredConfig(3)).value()),
             "This is a lesson model already.");
    QCOMPARE(refused(support::layeredConfig(600)),
             "A lesson model cannot be made from a model of 600 layers.");
}

QTEST_GUILESS_MAIN(LessonModelTest)
#include "lesson_model_test.moc"
