// SPDX-License-Identifier: Apache-2.0
// The emulated GPU against logits, skip sets, exits and trees that independent libraries computed,
// for every family of the golden data.
#include "engine/loading/model_files.h"
#include "engine/model/skip_sets/skip_set.h"
#include "tests/plugins/cuda/cuda_support.h"
#include "tests/support/few_cases.h"
#include "tests/support/golden_tensors.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace engine;
using support::GoldenTensors;

namespace {

/// Root of the mean square of the differences of the last rows over that of the numbers, and the
/// largest difference.
struct Distance {
    double relative = 0.0;
    double largest = 0.0;
};

Distance distanceOf(const std::vector<std::vector<double>>& found,
                    const std::vector<double>& expected) {
    const std::size_t width = found.back().size();
    const std::size_t rows = expected.size() / width;
    ENGINE_CHECK(rows * width == expected.size() && rows <= found.size(), "{} rows", rows);
    Distance distance;
    double size = 0.0;
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t i = 0; i < width; ++i) {
            const double apart = found[found.size() - rows + row][i] - expected[row * width + i];
            distance.relative += apart * apart;
            distance.largest = std::max(distance.largest, std::abs(apart));
            size += expected[row * width + i] * expected[row * width + i];
        }
    distance.relative = std::sqrt(distance.relative / size);
    return distance;
}

LayerPlan planOf(const QJsonObject& skipSet, int layerCount) {
    const SkipSet set{support::integersOf(skipSet["attention"]),
                      support::integersOf(skipSet["mlp"])};
    return planOf(set, layerCount).value();
}

} // namespace

class CudaGoldenTest : public QObject {
    Q_OBJECT

private slots:
    void numbersMatch_data();
    void numbersMatch();
    void numbersOfGgufFilesMatch_data();
    void numbersOfGgufFilesMatch();
    void logitsAreThoseThatAGpuIsHeldAgainst_data();
    void logitsAreThoseThatAGpuIsHeldAgainst();
};

void CudaGoldenTest::numbersMatch_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("form");
    if (!support::hasGoldenData())
        QSKIP("the golden data does not lie beside the checkout");
    int turn = 0; // in a sample a network has one of the rounded forms
    for (const QString folder : {"models", "families"})
        for (const QString& name :
             QDir(support::goldenPath(folder)).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
            const QString path = support::goldenPath(folder + "/" + name);
            const auto files = ModelFiles::open(path.toStdString());
            if (!files || !files.value().config()) // refused families: see model_config_test
                continue;
            const QString other = turn++ % 2 == 0 ? "bf16" : "int8";
            for (const char* form : {"f32", "bf16", "int8"})
                if (support::takesAllCases() || form == QString("f32") || form == other)
                    QTest::addRow("%s/%s, %s", qPrintable(folder), qPrintable(name), form)
                        << path << QString(form);
        }
}

void CudaGoldenTest::numbersMatch() {
    QFETCH(const QString, model);
    QFETCH(const QString, form);
    const ModelFiles files = ModelFiles::open(model.toStdString()).value();
    const ModelConfig config = files.config().value();
    const auto weights = files.weights();
    QVERIFY(weights.hasValue());
    const GoldenTensors golden(model + "/golden.safetensors");
    const std::vector<int> ids = golden.integers("seq.0.ids");
    const auto transformer = support::makeOn(std::make_shared<backend_cuda::EmulatedDevice>(),
                                             config,
                                             *weights.value(),
                                             {{"weights", form.toStdString()}});
    const auto run = [&](const LayerPlan& plan) {
        KvCache cache = support::emptyCache(*transformer, static_cast<Position>(ids.size()));
        return support::runChain(*transformer, cache, plan, ids, 16);
    };
    // Of the model in float32; rounded to other forms the network itself is another one.
    const auto isNear = [&](const std::vector<std::vector<double>>& found, const QString& name) {
        const Distance distance = distanceOf(found, golden.numbers(name));
        const bool isIt = form == "f32" ? distance.largest <= 2e-4
                                        : distance.relative <= (form == "bf16" ? 0.05 : 0.12);
        if (!isIt)
            qWarning() << name << distance.largest << distance.relative;
        return isIt;
    };
    const LayerPlan full = LayerPlan::full(config.layerCount);
    if (!model.contains("longrope")) // its factors are chosen by the length of the context
        QVERIFY(isNear(run(full), "seq.0.logits"));
    const QJsonObject told = support::readJsonObject(model + "/golden.json");
    if (form == "f32" && !model.contains("longrope")) {
        const QJsonArray skipSets = told["skip_sets"].toArray();
        const qsizetype most = support::takesAllCases() ? skipSets.size() : 1;
        for (int set = 0; set < std::min(most, skipSets.size()); ++set)
            QVERIFY(isNear(run(planOf(skipSets[set].toObject(), config.layerCount)),
                           QString("seq.0.skip.%1.logits").arg(set)));
        LayerPlan exit = full;
        exit.exitAfterLayer = told["exit_after_layer"].toInt(-1);
        QVERIFY(isNear(run(exit), "seq.0.exit.logits"));
        KvCache cache = support::emptyCache(*transformer, 64);
        support::runChain(*transformer, cache, full, golden.integers("tree.prefix"), 16);
        const auto tree = support::logitsOf(
            *transformer,
            cache,
            full,
            AttentionLayout::tree(cache.length(), golden.integers("tree.parents")),
            golden.integers("tree.ids"));
        QVERIFY(isNear(tree, "tree.logits"));
    }
}

void CudaGoldenTest::numbersOfGgufFilesMatch_data() {
    QTest::addColumn<QString>("path");
    if (!support::hasGoldenData())
        QSKIP("the golden data does not lie beside the checkout");
    for (const QString folder : {"gguf/", "families/gguf/"})
        for (const QString& name : QDir(support::goldenPath(folder)).entryList({"*.gguf"}))
            QTest::newRow(qPrintable(name)) << support::goldenPath(folder + name);
}

/// In the forms of the files. The golden numbers are those of the same weights, but of rows that
/// are not rounded to 8 bits; and with other rows another expert may be chosen.
void CudaGoldenTest::numbersOfGgufFilesMatch() {
    QFETCH(const QString, path);
    const ModelFiles files = ModelFiles::open(path.toStdString()).value();
    const auto weights = files.weights();
    QVERIFY(weights.hasValue());
    const ModelConfig config = files.config().value();
    const GoldenTensors golden(QString(path).replace(".gguf", ".golden.safetensors"));
    const std::vector<int> ids = golden.integers("ids");
    const auto transformer =
        support::makeOn(std::make_shared<backend_cuda::EmulatedDevice>(), config, *weights.value());
    if (path.contains("longrope")) // its factors are chosen by the length of the context
        QSKIP("needs a context");
    KvCache cache = support::emptyCache(*transformer, static_cast<Position>(ids.size()));
    const Distance distance = distanceOf(
        support::runChain(*transformer, cache, LayerPlan::full(config.layerCount), ids, ids.size()),
        golden.numbers("logits"));
    const bool isPlain = path.endsWith("_F32.gguf");
    QVERIFY2(isPlain ? distance.largest <= 5e-4
                     : distance.relative <= (config.experts.count > 0 ? 0.15 : 0.05),
             qPrintable(QString("%1 %2").arg(distance.largest).arg(distance.relative)));
}

void CudaGoldenTest::logitsAreThoseThatAGpuIsHeldAgainst_data() {
    QTest::addColumn<QString>("form");
    for (const char* form : {"auto", "int8", "f32"})
        QTest::newRow(form) << form;
}

/// Forms whose products are exact have the same digits on the emulated GPU and on a real one, where
/// tests/gpu/check.sh compares. SWIFT_STUDIO_WRITE_GOLDEN=1 writes the files anew.
void CudaGoldenTest::logitsAreThoseThatAGpuIsHeldAgainst() {
    QFETCH(const QString, form);
    const ModelFiles files = ModelFiles::open(SWIFT_STUDIO_TEST_DATA_DIR "/tiny.gguf").value();
    const ModelConfig config = files.config().value();
    const auto weights = files.weights();
    QVERIFY(weights.hasValue());
    const auto transformer =
        support::makeOn(std::make_shared<backend_cuda::EmulatedDevice>(),
                        config,
                        *weights.value(),
                        {{"weights", form.toStdString()}, {"kv", std::string("f32")}});
    std::vector<int> ids(20);
    std::iota(ids.begin(), ids.end(), 3);
    KvCache cache = support::emptyCache(*transformer, 20);
    const LayerPlan plan = LayerPlan::full(config.layerCount);
    QByteArray found; // in the shape of swift-run forward --json
    for (const std::vector<double>& row : support::runChain(*transformer, cache, plan, ids, 20)) {
        std::vector<int> best(row.size());
        std::iota(best.begin(), best.end(), 0);
        std::stable_sort(best.begin(), best.end(), [&row](int first, int second) {
            return row[static_cast<std::size_t>(first)] > row[static_cast<std::size_t>(second)];
        });
        std::string top;
        for (int place = 0; place < 16; ++place) {
            const int token = best[static_cast<std::size_t>(place)];
            top += fmt::format(R"({}{{"id":{},"logit":{:.9g}}})",
                               place == 0 ? "" : ",",
                               token,
                               row[static_cast<std::size_t>(token)]);
        }
        found += QByteArray::fromStdString(fmt::format("{{\"top\":[{}]}}\n", top));
    }
    QFile file(SWIFT_STUDIO_TEST_DATA_DIR "/../gpu/emulated/" + form + ".jsonl");
    if (qEnvironmentVariableIntValue("SWIFT_STUDIO_WRITE_GOLDEN") == 1) {
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(found) == found.size());
        return;
    }
    QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.fileName()));
    QCOMPARE(found, file.readAll());
}

QTEST_GUILESS_MAIN(CudaGoldenTest)
#include "cuda_golden_test.moc"
