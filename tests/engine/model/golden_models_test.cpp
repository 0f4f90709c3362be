// SPDX-License-Identifier: Apache-2.0
// Every backend against logits, hidden states, skip sets, exits, trees and continuations that
// independent libraries computed.
#include "engine/decoding/answer/generation.h"
#include "engine/kernels/processor.h"
#include "engine/loading/model_files.h"
#include "engine/model/backends/backend_registry.h"
#include "engine/model/skip_sets/skip_set.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/usable_backends.h"
#include "tests/support/value_of.h"

#include <QDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>

using namespace engine;
using support::GoldenTensors;

namespace {

/// One backend at one precision with one golden model loaded.
struct Loaded {
    std::unique_ptr<Transformer> transformer;
    ModelConfig config;
};

/// `named` is a backend, or "cpu" and an instruction set.
Loaded&
load(const QString& path, const QString& named, const QString& precision, int contextLength = 0) {
    static BackendRegistry registry(QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    static std::map<QString, Loaded> loaded;
    const QString backend = named.section(' ', 0, 0);
    const QString instructionSet = named.section(' ', 1);
    Loaded& entry = loaded[path + named + precision + QString::number(contextLength)];
    if (entry.transformer)
        return entry;
    const auto files = support::valueOf(ModelFiles::open(path.toStdString()));
    auto config = support::valueOf(files.config());
    const auto weights = support::valueOf(files.weights());
    const auto factory = support::valueOf(registry.find(backend.toStdString()));
    TransformerOptions options;
    options.precision = precision == "float64" ? Precision::F64 : Precision::F32;
    if (!instructionSet.isEmpty())
        options.settings = {{"isa", instructionSet.toStdString()}};
    options.cacheSlots = contextLength;
    entry.transformer = support::valueOf(factory(config, *weights, options));
    entry.config = std::move(config);
    return entry;
}

/// Largest difference between the last rows of `found` and the rows of `expected`.
double difference(const std::vector<std::vector<double>>& found,
                  const std::vector<double>& expected) {
    const std::size_t width = found.back().size();
    const std::size_t rows = expected.size() / width;
    double largest = rows * width == expected.size() && rows <= found.size() ? 0.0 : 1e9;
    for (std::size_t row = 0; row < rows && largest < 1e9; ++row)
        for (std::size_t i = 0; i < width; ++i) {
            const double distance =
                std::abs(found[found.size() - rows + row][i] - expected[row * width + i]);
            largest = std::isfinite(distance) ? std::max(largest, distance) : 1e9;
        }
    return largest;
}

constexpr double kTolerance = 2e-4;

LayerPlan planOf(const QJsonObject& skipSet, int layerCount) {
    const SkipSet set{support::integersOf(skipSet["attention"]),
                      support::integersOf(skipSet["mlp"])};
    return planOf(set, layerCount).value();
}

} // namespace

class GoldenModelsTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();

    void logitsAndHiddenStatesMatch_data() { addModels(); }

    void logitsAndHiddenStatesMatch();

    void skipSetsMatch_data() { addModels(); }

    void skipSetsMatch();

    void exitsMatch_data() { addModels(); }

    void exitsMatch();

    void treesMatch_data() { addModels(); }

    void treesMatch();

    void greedyContinuationsMatch_data() { addModels(); }

    void greedyContinuationsMatch();

    void endIdsEndTheAnswer_data() { addModels({"models"}); }

    void endIdsEndTheAnswer();
    void ggufLogitsMatch_data();
    void ggufLogitsMatch();

private:
    void addModels(const QStringList& folders = {"models", "families"});

    QString modelPath() const { return support::goldenPath(m_variant); }

    Loaded& fetchModel(int tokens = 32);
    std::vector<std::vector<double>> run(const LayerPlan& plan, const std::vector<int>& ids);

    QStringList m_backends;
    QString m_variant;
};

void GoldenModelsTest::initTestCase() {
    if (!support::hasGoldenData())
        QSKIP("the golden data does not lie beside the checkout");
    BackendRegistry registry(QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    for (const std::string& name : support::usableBackends(registry)) {
        if (name != "cpu") {
            m_backends << QString::fromStdString(name);
            continue;
        }
        for (const InstructionSet set : {InstructionSet::Scalar,
                                         InstructionSet::Avx2,
                                         InstructionSet::Avx512,
                                         InstructionSet::Amx})
            if (set <= bestInstructionSet())
                m_backends << QString("cpu ") + instructionSetName(set).data();
    }
    QVERIFY(m_backends.contains("plain"));
}

/// Families that are refused, in a sentence that model_config_test looks at.
const QStringList kRefused = {"cohere", "starcoder2"};

void GoldenModelsTest::addModels(const QStringList& folders) {
    QTest::addColumn<QString>("variant");
    QTest::addColumn<QString>("backend");
    QTest::addColumn<QString>("precision");
    QStringList variants;
    for (const QString& folder : folders)
        for (const QString& name :
             QDir(support::goldenPath(folder)).entryList(QDir::Dirs | QDir::NoDotAndDotDot))
            if (name != "gguf" && !kRefused.contains(name))
                variants << folder + "/" + name;
    for (const QString& variant : variants)
        for (const QString& backend : m_backends)
            for (const QString precision : {"float32", "float64"}) {
                if (backend.startsWith("cpu") && precision == "float64")
                    continue;
                QTest::addRow(
                    "%s, %s, %s", qPrintable(variant), qPrintable(backend), qPrintable(precision))
                    << variant << backend << precision;
            }
}

/// Made for a context of so many tokens where the network asks for its length.
Loaded& GoldenModelsTest::fetchModel(int tokens) {
    QFETCH(QString, variant);
    QFETCH(QString, backend);
    QFETCH(QString, precision);
    m_variant = variant;
    return load(modelPath(), backend, precision, variant.contains("longrope") ? tokens : 0);
}

std::vector<std::vector<double>> GoldenModelsTest::run(const LayerPlan& plan,
                                                       const std::vector<int>& ids) {
    Loaded& model = fetchModel(static_cast<int>(ids.size()));
    KvCache cache = support::emptyCache(*model.transformer, static_cast<Position>(ids.size()));
    return support::runChain(*model.transformer, cache, plan, ids, 16);
}

void GoldenModelsTest::logitsAndHiddenStatesMatch() {
    fetchModel();
    const GoldenTensors golden(modelPath() + "/golden.safetensors");
    for (const QString sequence : {"seq.0.", "seq.1.", "seq.2."}) {
        const std::vector<int> ids = golden.integers(sequence + "ids");
        const int rows = static_cast<int>(ids.size());
        Loaded& model = fetchModel(rows);
        KvCache cache = support::emptyCache(*model.transformer, rows);
        std::vector<HiddenRows> states(static_cast<std::size_t>(model.config.layerCount));
        std::vector<HandOut> handOuts;
        for (HiddenRows& each : states)
            handOuts.push_back({static_cast<int>(handOuts.size()), &each});
        std::vector<int> logitRows(ids.size());
        std::iota(logitRows.begin(), logitRows.end(), 0);
        auto result = model.transformer->forward({.plan = LayerPlan::full(model.config.layerCount),
                                                  .layout = AttentionLayout::chain(0, rows),
                                                  .tokens = ids,
                                                  .logitRows = logitRows,
                                                  .handOuts = handOuts},
                                                 cache);
        QVERIFY2(result.hasValue(), result ? "" : result.error().message.c_str());
        QVERIFY(difference({support::allLogits(result.value())},
                           golden.numbers(sequence + "logits")) <= kTolerance);
        for (const auto& [layer, to] : handOuts) {
            const auto hidden = support::numbersOf(*to, model.config.hiddenSize);
            const auto expected = golden.numbers(sequence + QString("hidden.%1").arg(layer));
            QVERIFY2(difference({hidden}, expected) <= kTolerance,
                     qPrintable(QString("hidden state after layer %1").arg(layer)));
        }
    }
}

void GoldenModelsTest::skipSetsMatch() {
    const int layers = fetchModel().config.layerCount;
    const GoldenTensors golden(modelPath() + "/golden.safetensors");
    const QJsonArray skipSets =
        support::readJsonObject(modelPath() + "/golden.json")["skip_sets"].toArray();
    QVERIFY(!skipSets.isEmpty());
    for (const QString sequence : {"seq.0.", "seq.1.", "seq.2."})
        for (int set = 0; set < skipSets.size(); ++set) {
            const auto logits =
                run(planOf(skipSets[set].toObject(), layers), golden.integers(sequence + "ids"));
            const auto expected = golden.numbers(sequence + QString("skip.%1.logits").arg(set));
            QVERIFY2(difference(logits, expected) <= kTolerance,
                     qPrintable(sequence + QString("skip set %1").arg(set)));
        }
}

void GoldenModelsTest::exitsMatch() {
    LayerPlan plan = LayerPlan::full(fetchModel().config.layerCount);
    const GoldenTensors golden(modelPath() + "/golden.safetensors");
    plan.exitAfterLayer =
        support::readJsonObject(modelPath() + "/golden.json")["exit_after_layer"].toInt(-1);
    QVERIFY(plan.exitAfterLayer >= 0);
    for (const QString sequence : {"seq.0.", "seq.1.", "seq.2."}) {
        const auto logits = run(plan, golden.integers(sequence + "ids"));
        QVERIFY(difference(logits, golden.numbers(sequence + "exit.logits")) <= kTolerance);
    }
}

void GoldenModelsTest::treesMatch() {
    Loaded& model = fetchModel();
    const LayerPlan plan = LayerPlan::full(model.config.layerCount);
    const GoldenTensors golden(modelPath() + "/golden.safetensors");
    const std::vector<int> prefix = golden.integers("tree.prefix");
    const std::vector<int> parents = golden.integers("tree.parents");
    KvCache cache = support::emptyCache(*model.transformer, 64);
    support::runChain(*model.transformer, cache, plan, prefix, 16);
    const AttentionLayout layout = AttentionLayout::tree(cache.length(), parents);
    const std::vector<int> positions = golden.integers("tree.positions");
    for (int node = 0; node < layout.rowCount(); ++node)
        QCOMPARE(layout.position(node), positions[static_cast<std::size_t>(node)]);
    const auto logits =
        support::logitsOf(*model.transformer, cache, plan, layout, golden.integers("tree.ids"));
    QVERIFY(difference(logits, golden.numbers("tree.logits")) <= kTolerance);
}

void GoldenModelsTest::greedyContinuationsMatch() {
    Loaded& model = fetchModel();
    const GoldenTensors golden(modelPath() + "/golden.safetensors");
    auto decoder = makeVanillaDecoder(*model.transformer, {}, 64);
    QVERIFY(decoder.hasValue());
    const std::vector<int> prompt = golden.integers("seq.1.ids");
    GenerationRequest request;
    request.prompt = prompt;
    const std::vector<int> expected = golden.integers("greedy.ids");
    request.limits.maxTokens = static_cast<int>(expected.size());
    const auto result = generate(*decoder.value(), request);
    QVERIFY(result.hasValue());
    QCOMPARE(result.value().tokens, expected);
}

void GoldenModelsTest::endIdsEndTheAnswer() {
    Loaded& model = fetchModel();
    const GoldenTensors golden(modelPath() + "/golden.safetensors");
    const QJsonObject facts = support::readJsonObject(modelPath() + "/golden.json");
    std::vector<int> expectedEnds = support::integersOf(facts["end_ids"]);
    std::sort(expectedEnds.begin(), expectedEnds.end());
    std::vector<int> ends = model.config.eosIds;
    std::sort(ends.begin(), ends.end());
    QCOMPARE(ends, expectedEnds);
    auto decoder = makeVanillaDecoder(*model.transformer, {}, 64);
    const std::vector<int> prompt = golden.integers("seq.1.ids");
    GenerationRequest request;
    request.prompt = prompt;
    request.limits.maxTokens = 32;
    request.limits.endIds = ends;
    const auto result = generate(*decoder.value(), request);
    QVERIFY(result.hasValue());
    QCOMPARE(result.value().tokens, support::integersOf(facts["generate_with_end_ids"]));
}

void GoldenModelsTest::ggufLogitsMatch_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("backend");
    for (const QString folder : {"gguf/", "families/gguf/"})
        for (const QString& name : QDir(support::goldenPath(folder)).entryList({"*.gguf"}))
            for (const QString& backend : m_backends)
                QTest::addRow("%s%s, %s", qPrintable(folder), qPrintable(name), qPrintable(backend))
                    << folder + name << backend;
}

void GoldenModelsTest::ggufLogitsMatch() {
    QFETCH(QString, file);
    QFETCH(QString, backend);
    const QString path = support::goldenPath(file);
    const GoldenTensors golden(QString(path).replace(".gguf", ".golden.safetensors"));
    const std::vector<int> ids = golden.integers("ids");
    Loaded& model = load(path, backend, "float32", static_cast<int>(ids.size()));
    KvCache cache = support::emptyCache(*model.transformer, static_cast<Position>(ids.size()));
    const auto logits = support::runChain(
        *model.transformer, cache, LayerPlan::full(model.config.layerCount), ids, ids.size());
    QVERIFY(difference(logits, golden.numbers("logits")) <= 5e-4);
}

QTEST_GUILESS_MAIN(GoldenModelsTest)
#include "golden_models_test.moc"
