// SPDX-License-Identifier: Apache-2.0
// The lens of every family on every backend, against hidden states, exits and logits that
// independent libraries computed.
#include "engine/lens/answer_lens.h"
#include "engine/loading/model_files.h"
#include "engine/model/backends/backend_registry.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/usable_backends.h"
#include "tests/support/value_of.h"

#include <QDir>
#include <QTest>

#include <cmath>

using namespace engine;
using support::GoldenTensors;

namespace {

/// Probabilities move by less than logits do.
constexpr double kTolerance = 2e-4;

/// The lens over all tokens of a sequence but the first.
std::vector<LensToken> lensOf(Transformer& transformer, const std::vector<TokenId>& ids) {
    const int count = static_cast<int>(ids.size()) - 1;
    auto lens = support::valueOf(
        AnswerLens::begin(transformer, ids, 1, count, static_cast<int>(ids.size())));
    while (!lens.isDone()) {
        const auto stepped = lens.step();
        ENGINE_CHECK(stepped.hasValue(), "{}", stepped.error().message);
    }
    return lens.takeTokens();
}

/// Whether a cell is what these logits say. Ranks may differ where two logits nearly tie.
bool isOf(const LensCell& cell, TokenId token, std::span<const double> logits) {
    const HeadSummary expected = summarise(logits);
    const double own = logits[static_cast<std::size_t>(token)];
    int surelyBetter = 0;
    int maybeBetter = 0;
    for (const double logit : logits) {
        surelyBetter += logit > own + 2 * kTolerance ? 1 : 0;
        maybeBetter += logit > own - 2 * kTolerance ? 1 : 0;
    }
    bool isRight = std::abs(cell.probability - expected.probabilityOf(own)) < kTolerance;
    isRight = isRight && cell.rank >= surelyBetter && cell.rank < maybeBetter;
    for (int place = 0; place < static_cast<int>(cell.ids.size()); ++place) {
        const auto at = static_cast<std::size_t>(place);
        const double logit = logits[static_cast<std::size_t>(cell.ids[at])];
        isRight = isRight && std::abs(logit - expected.logits[at]) < 2 * kTolerance &&
                  std::abs(cell.probabilities[at] - expected.probability(place)) < kTolerance;
    }
    return isRight;
}

/// Final norm and head, applied to hidden states that another library computed.
std::vector<std::vector<double>>
headOf(Transformer& transformer, const std::vector<double>& hidden, int rows) {
    KvCache cache = support::emptyCache(transformer, rows);
    const LayerPlan plan = LayerPlan::full(transformer.config().layerCount);
    const AttentionLayout layout = AttentionLayout::chain(0, rows);
    HiddenRows states;
    const HandOut handOut{0, &states};
    const std::vector<TokenId> ids(static_cast<std::size_t>(rows), 0);
    ENGINE_CHECK(transformer
                     .forward({.plan = plan,
                               .layout = layout,
                               .tokens = ids,
                               .endLayer = 1,
                               .handOuts = {&handOut, 1}},
                              cache)
                     .hasValue(),
                 "a pass failed");
    states.clear();
    ENGINE_CHECK(states.append(hidden).hasValue(), "hidden states could not be appended");
    std::vector<int> all(static_cast<std::size_t>(rows));
    std::iota(all.begin(), all.end(), 0);
    const HiddenPiece piece(states);
    auto result = transformer.forward({.plan = plan,
                                       .layout = layout,
                                       .hidden = {&piece, 1},
                                       .firstLayer = 1,
                                       .endLayer = 1,
                                       .logitRows = all},
                                      cache);
    ENGINE_CHECK(result.hasValue(), "a pass failed");
    std::vector<std::vector<double>> logits;
    for (const int row : all)
        logits.push_back(support::rowOf(result.value(), row));
    return logits;
}

} // namespace

class GoldenLensTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void cellsAreThoseOfTheOracle_data();
    void cellsAreThoseOfTheOracle();
};

void GoldenLensTest::initTestCase() {
    if (!support::hasGoldenData())
        QSKIP("the golden data does not lie beside the checkout");
}

void GoldenLensTest::cellsAreThoseOfTheOracle_data() {
    QTest::addColumn<QString>("variant");
    QTest::addColumn<QString>("backend");
    BackendRegistry registry(QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    const QStringList refused = {"cohere", "starcoder2", "gguf"};
    for (const QString folder : {"models", "families"})
        for (const QString& name :
             QDir(support::goldenPath(folder)).entryList(QDir::Dirs | QDir::NoDotAndDotDot))
            for (const std::string& backend : support::usableBackends(registry))
                if (!refused.contains(name))
                    QTest::addRow("%s, %s", qPrintable(name), backend.c_str())
                        << folder + "/" + name << QString::fromStdString(backend);
}

void GoldenLensTest::cellsAreThoseOfTheOracle() {
    QFETCH(QString, variant);
    QFETCH(QString, backend);
    const QString path = support::goldenPath(variant);
    const GoldenTensors golden(path + "/golden.safetensors");
    const int exit = support::readJsonObject(path + "/golden.json")["exit_after_layer"].toInt(-1);
    const std::vector<int> ids = golden.integers("seq.2.ids");
    const int rows = static_cast<int>(ids.size());
    const auto files = ModelFiles::open(path.toStdString());
    const ModelConfig config = files.value().config().value();
    const auto weights = files.value().weights();
    BackendRegistry registry(QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    TransformerOptions options;
    options.cacheSlots = variant.contains("longrope") ? rows : 0;
    const auto transformer =
        registry.find(backend.toStdString()).value()(config, *weights.value(), options).value();
    const std::vector<LensToken> tokens = lensOf(*transformer, ids);
    const auto isRight = [&](int depth, std::size_t row, std::span<const double> logits) {
        const LensCell& cell = tokens[row].cells[static_cast<std::size_t>(depth)];
        return isOf(cell, ids[row + 1], logits);
    };
    const std::size_t vocab = static_cast<std::size_t>(config.vocabSize);
    const std::vector<double> logits = golden.numbers("seq.2.logits");
    const std::vector<double> exits = golden.numbers("seq.2.exit.logits"); // of the last 8 rows
    for (std::size_t row = 0; row + 1 < ids.size(); ++row) {
        const auto whole = std::span(logits).subspan(row * vocab, vocab);
        QVERIFY2(isRight(2 * config.layerCount, row, whole), qPrintable(QString::number(row)));
        const std::size_t firstExit = ids.size() - exits.size() / vocab;
        if (row >= firstExit)
            QVERIFY(isRight(
                2 * exit + 2, row, std::span(exits).subspan((row - firstExit) * vocab, vocab)));
    }
    for (int layer = 0; layer < config.layerCount; ++layer) {
        const auto behind =
            headOf(*transformer, golden.numbers(QString("seq.2.hidden.%1").arg(layer)), rows);
        for (std::size_t row = 0; row + 1 < ids.size(); ++row)
            QVERIFY2(isRight(2 * layer + 2, row, behind[row]),
                     qPrintable(QString("layer %1, row %2").arg(layer).arg(row)));
    }
}

QTEST_GUILESS_MAIN(GoldenLensTest)
#include "golden_lens_test.moc"
