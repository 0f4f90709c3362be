// SPDX-License-Identifier: Apache-2.0
// One tiny network under hundreds of changed config.json files: the logits are those that
// transformers computes, or the model is refused in a sentence (tests/data/make_config_cases.py).
#include "engine/loading/model_files.h"
#include "engine/loading/safetensors_file.h"
#include "engine/model/backends/backend_registry.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/models/tiny_safetensors.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/usable_backends.h"
#include "tests/support/value_of.h"

#include <QDir>
#include <QJsonDocument>
#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>

using namespace engine;
using support::GoldenTensors;

namespace {

const QString kFolder = SWIFT_STUDIO_TEST_DATA_DIR "/config_cases/";
constexpr double kTolerance = 2e-4; // the logits reach 10

/// Every tensor of the shared weights as it is stored, but for those that are left out.
std::string weightsWithout(const std::vector<std::string>& leftOut) {
    const auto source =
        support::valueOf(openSafetensors((kFolder + "model.safetensors").toStdString()));
    test_support::TinySafetensors file;
    for (const TensorInfo& tensor : source->tensors()) {
        if (std::find(leftOut.begin(), leftOut.end(), tensor.name) != leftOut.end())
            continue;
        std::string bytes(tensor.byteSize, '\0');
        const auto read =
            source->readRawRows(tensor, 0, tensor.rows(), std::as_writable_bytes(std::span(bytes)));
        ENGINE_CHECK(read.hasValue(), "{}", read.error().message);
        file.add(tensor.name, std::string(tensor.typeName()), tensor.shape, bytes);
    }
    return file.toBytes();
}

/// Logits of the kept rows one behind the other, or the error of whatever step fails first.
Result<std::vector<double>> logitsOf(const ModelFiles& files,
                                     const TransformerFactory& factory,
                                     const std::vector<int>& ids,
                                     const std::vector<int>& rows) {
    ENGINE_TRY(const ModelConfig config, files.config());
    ENGINE_TRY(const auto weights, files.weights());
    ENGINE_TRY(const auto transformer, factory(config, *weights, {}));
    KvCache cache = support::emptyCache(*transformer, static_cast<Position>(ids.size()));
    const auto logits =
        support::runChain(*transformer, cache, LayerPlan::full(config.layerCount), ids, 7);
    std::vector<double> kept;
    for (const int row : rows) {
        const auto& values = logits[static_cast<std::size_t>(row)];
        kept.insert(kept.end(), values.begin(), values.end());
    }
    return kept;
}

double difference(const std::vector<double>& found, const std::vector<double>& expected) {
    double largest = found.size() == expected.size() ? 0.0 : 1e9;
    for (std::size_t i = 0; i < expected.size() && largest < 1e9; ++i) {
        const double distance = std::abs(found[i] - expected[i]);
        largest = std::isfinite(distance) ? std::max(largest, distance) : 1e9;
    }
    return largest;
}

} // namespace

class ChangedConfigsTest : public QObject {
    Q_OBJECT

private slots:
    void logitsAreThoseOfTransformersOrTheConfigIsRefused_data();
    void logitsAreThoseOfTransformersOrTheConfigIsRefused();

private:
    const QJsonObject m_reported = support::readJsonObject(kFolder + "cases.json");
    const GoldenTensors m_golden = GoldenTensors(kFolder + "golden.safetensors");
};

void ChangedConfigsTest::logitsAreThoseOfTransformersOrTheConfigIsRefused_data() {
    QTest::addColumn<QJsonObject>("told");
    const QJsonArray cases = m_reported["cases"].toArray();
    QVERIFY(cases.size() > 250);
    for (const QJsonValue one : cases)
        QTest::addRow("%s", qPrintable(one["name"].toString())) << one.toObject();
}

void ChangedConfigsTest::logitsAreThoseOfTransformersOrTheConfigIsRefused() {
    QFETCH(QJsonObject, told);
    QJsonObject config = m_reported["families"][told["family"].toString()].toObject();
    const QJsonObject changes = told["changes"].toObject();
    for (auto change = changes.begin(); change != changes.end(); ++change) {
        if (change.value() == m_reported["gone"])
            config.remove(change.key());
        else
            config[change.key()] = change.value();
    }
    std::vector<std::string> leftOut;
    for (const QJsonValue name : told["without"].toArray())
        leftOut.push_back(name.toString().toStdString());
    const test_support::TemporaryFolder folder;
    folder.write("config.json", QJsonDocument(config).toJson().toStdString());
    folder.write("model.safetensors", weightsWithout(leftOut));
    const auto files = ModelFiles::open(folder.path());
    QVERIFY2(files.hasValue(), files ? "" : files.error().message.c_str());

    if (const QString wanted = told["remark"].toString(); !wanted.isEmpty()) {
        const auto read = files.value().config();
        QVERIFY2(read.hasValue(), read ? "" : read.error().message.c_str());
        const auto& notes = read.value().notes;
        QVERIFY2(std::any_of(notes.begin(),
                             notes.end(),
                             [&](const std::string& note) {
                                 return QString::fromStdString(note).contains(wanted);
                             }),
                 qPrintable("no note on " + wanted));
    }
    BackendRegistry registry(QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    for (const std::string& backend : support::usableBackends(registry)) {
        const auto factory = registry.find(backend);
        QVERIFY2(factory.hasValue(), factory ? "" : factory.error().message.c_str());
        const auto found = logitsOf(files.value(),
                                    factory.value(),
                                    support::integersOf(m_reported["ids"]),
                                    support::integersOf(m_reported["rows"]));
        const QString expected = told["refused"].toString();
        if (!expected.isEmpty()) {
            QVERIFY2(!found, "it was computed");
            const QString message = QString::fromStdString(found.error().message);
            QVERIFY2(message.contains(expected), qPrintable(message));
            QVERIFY(!found.error().hint.empty());
            continue;
        }
        QVERIFY2(found.hasValue(), found ? "" : found.error().message.c_str());
        const double apart = difference(found.value(), m_golden.numbers(told["logits"].toString()));
        QVERIFY2(apart <= kTolerance,
                 qPrintable(QString("%1: %2 apart").arg(backend.c_str()).arg(apart)));
    }
}

QTEST_GUILESS_MAIN(ChangedConfigsTest)
#include "changed_configs_test.moc"
