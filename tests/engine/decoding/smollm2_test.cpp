// SPDX-License-Identifier: Apache-2.0
// The default model against continuations that an independent implementation computed. By default
// a sample of the prompts runs; SWIFT_STUDIO_FULL_GOLDEN=1 runs all of them through every backend.
#include "engine/decoding/answer/generation.h"
#include "engine/loading/model_files.h"
#include "engine/model/backends/backend_registry.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/usable_backends.h"

#include <QDir>
#include <QFileInfo>
#include <QTest>

#include <algorithm>
#include <cmath>

using namespace engine;

namespace {

constexpr const char* kModelPath = SWIFT_STUDIO_CACHE_DIR "/models/SmolLM2-135M-Instruct.Q4_1.gguf";

Result<std::unique_ptr<Transformer>> loadModel(const std::string& backend,
                                               const std::string& form) {
    BackendRegistry registry(QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    ENGINE_TRY(const ModelFiles files, ModelFiles::open(kModelPath));
    ENGINE_TRY(const ModelConfig config, files.config());
    ENGINE_TRY(const auto weights, files.weights());
    ENGINE_TRY(const TransformerFactory factory, registry.find(backend));
    TransformerOptions options;
    if (!form.empty())
        options.settings = {{"weights", form}};
    return factory(config, *weights, options);
}

bool isFull() { return qEnvironmentVariableIntValue("SWIFT_STUDIO_FULL_GOLDEN") != 0; }

} // namespace

class SmolLm2Test : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();

    void continuationsAndBestLogitsMatch_data();
    void continuationsAndBestLogitsMatch();

private:
    static void checkContinuations(Transformer& transformer, bool isSlow, double tolerance);
    static void checkBestLogits(Transformer& transformer, bool isSlow, double tolerance);
    static void checkPrompt(Decoder& decoder,
                            const QJsonObject& line,
                            double nearTie,
                            std::size_t most,
                            int& matchedToTheEnd);
};

void SmolLm2Test::initTestCase() {
    if (!support::hasGoldenData())
        QSKIP("the golden data does not lie beside the checkout");
    if (!QFileInfo::exists(kModelPath))
        QSKIP("the default model was not fetched");
}

void SmolLm2Test::continuationsAndBestLogitsMatch_data() {
    QTest::addColumn<QString>("backend");
    BackendRegistry registry(QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    QTest::addColumn<QString>("form");
    QTest::addColumn<double>("tolerance"); // of logits; a smaller gap between two is a near-tie
    for (const std::string& name : support::usableBackends(registry))
        if (name != "cpu")
            QTest::newRow(name.c_str()) << QString::fromStdString(name) << QString() << 1e-3;
    QTest::newRow("cpu, float32") << "cpu"
                                  << "f32" << 1e-3;
    // Activations of 8 bits, as weights of 4 and 8 bits ask for.
    QTest::newRow("cpu, as in the file") << "cpu"
                                         << "file" << 0.5;
}

/// Of the first ids, so many at most. They must be equal up to the first step whose stored gap is a
/// near-tie; counts full matches.
void SmolLm2Test::checkPrompt(Decoder& decoder,
                              const QJsonObject& line,
                              double nearTie,
                              std::size_t most,
                              int& matchedToTheEnd) {
    const std::vector<int> prompt = support::integersOf(line["prompt_ids"]);
    std::vector<int> expected = support::integersOf(line["output_ids"]);
    expected.resize(std::min(expected.size(), most));
    GenerationRequest request;
    request.prompt = prompt;
    request.limits.maxTokens = static_cast<int>(expected.size());
    request.limits.endIds = {2};
    const auto result = generate(decoder, request);
    QVERIFY2(result.hasValue(), result ? "" : result.error().message.c_str());
    const std::vector<TokenId>& tokens = result.value().tokens;
    if (tokens == expected)
        ++matchedToTheEnd;
    const QJsonArray gaps = line["gap"].toArray();
    for (std::size_t step = 0; step < expected.size(); ++step) {
        if (gaps[static_cast<qsizetype>(step)].toDouble() < nearTie)
            return;
        QVERIFY2(step < tokens.size() && tokens[step] == expected[step],
                 qPrintable(QString("%1, step %2").arg(line["id"].toString()).arg(step)));
    }
}

/// Both on one load.
void SmolLm2Test::continuationsAndBestLogitsMatch() {
    QFETCH(QString, backend);
    QFETCH(QString, form);
    QFETCH(double, tolerance);
    const auto transformer = loadModel(backend.toStdString(), form.toStdString());
    QVERIFY2(transformer.hasValue(), transformer ? "" : transformer.error().message.c_str());
    checkContinuations(*transformer.value(), backend != "cpu", tolerance);
    if (!QTest::currentTestFailed())
        checkBestLogits(*transformer.value(), backend != "cpu", tolerance);
}

void SmolLm2Test::checkContinuations(Transformer& transformer, bool isSlow, double tolerance) {
    const auto decoder = makeVanillaDecoder(transformer, {}, 512).value();
    const auto lines = support::readJsonLines(support::goldenPath("smollm2/greedy.jsonl"));
    // A sample: prompts of as many tasks, or the beginning of one with a slow backend.
    const std::size_t stride = isFull() ? 1 : lines.size() / (isSlow ? 1 : 3);
    const std::size_t most = isSlow && !isFull() ? 16 : 10'000;
    int matched = 0;
    int tried = 0;
    for (std::size_t i = 0; i < lines.size(); i += stride) {
        checkPrompt(*decoder, lines[i], std::max(0.01, tolerance), most, matched);
        if (QTest::currentTestFailed())
            return;
        ++tried;
    }
    qInfo("%d of %d prompts matched to the end", matched, tried);
}

/// In a sample of one prompt with a slow backend.
void SmolLm2Test::checkBestLogits(Transformer& transformer, bool isSlow, double tolerance) {
    const QJsonObject golden = support::readJsonObject(support::goldenPath("smollm2/top10.json"));
    const auto lines = support::readJsonLines(support::goldenPath("smollm2/greedy.jsonl"));
    const LayerPlan plan = LayerPlan::full(transformer.config().layerCount);
    const int wanted = isSlow && !isFull() ? 1 : 3;
    int checked = 0;
    double largest = 0.0;
    for (const QJsonValue entry : golden["last_position_top10"].toArray())
        for (const QJsonObject& line : lines) {
            if (checked == wanted || line["id"] != entry["id"] || line["task"] != entry["task"])
                continue;
            const std::vector<int> prompt = support::integersOf(line["prompt_ids"]);
            KvCache cache = support::emptyCache(transformer, 512);
            const auto logits = support::runChain(transformer, cache, plan, prompt, 128).back();
            const std::vector<int> ids = support::integersOf(entry["ids"]);
            const double best = *std::max_element(logits.begin(), logits.end());
            QVERIFY(best - logits[static_cast<std::size_t>(ids.front())] <= tolerance);
            for (std::size_t i = 0; i < ids.size(); ++i) {
                const double expected =
                    entry["logits"].toArray()[static_cast<qsizetype>(i)].toDouble();
                largest = std::max(largest,
                                   std::abs(logits[static_cast<std::size_t>(ids[i])] - expected));
            }
            ++checked;
        }
    QCOMPARE(checked, wanted);
    QVERIFY2(largest <= tolerance, qPrintable(QString::number(largest)));
    qInfo("largest difference %g", largest);
}

QTEST_GUILESS_MAIN(SmolLm2Test)
#include "smollm2_test.moc"
