// SPDX-License-Identifier: Apache-2.0
// The lens of an answer: each cell is a pass that exits there, number for number.
#include "engine/lens/answer_lens.h"
#include "engine/model/backends/backend_registry.h"
#include "engine/model/plain/plain_backend.h"
#include "tests/support/models/plain_model.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/usable_backends.h"

#include <QDir>
#include <QTest>

#include <algorithm>

using namespace engine;

namespace {

constexpr int kContext = 256;

std::vector<TokenId> someText(std::size_t length) {
    std::vector<TokenId> text(length);
    for (std::size_t i = 0; i < length; ++i)
        text[i] = static_cast<TokenId>((i * 37 + 11 * (i / 5)) % 160);
    return text;
}

std::vector<std::pair<QString, ModelConfig>> configs() {
    return {{"llama", support::tinyConfig()},
            {"experts", support::expertConfig()},
            {"soft-caps", support::cappedConfig()},
            {"norms behind", support::normsBehindConfig()},
            {"lesson model", withSilentCopies(support::tinyConfig()).value()}};
}

/// Runs the work to its end. Fails by exception.
std::vector<LensToken> runLens(AnswerLens& lens) {
    std::vector<LensToken> tokens;
    while (!lens.isDone()) {
        const auto stepped = lens.step();
        ENGINE_CHECK(stepped.hasValue(), "{}", stepped.error().message);
        for (LensToken& token : lens.takeTokens())
            tokens.push_back(std::move(token));
    }
    return tokens;
}

AnswerLens beginLens(Transformer& transformer, std::vector<TokenId> text, int first, int count) {
    return support::valueOf(
        AnswerLens::begin(transformer, std::move(text), first, count, kContext));
}

/// The plan that exits at a depth behind the embedding.
LayerPlan planTo(int depth, int layers) {
    LayerPlan plan = LayerPlan::full(layers);
    plan.exitAfterLayer = layerOfDepth(depth);
    if (!isBehindMlp(depth))
        plan.mlp[static_cast<std::size_t>(plan.exitAfterLayer)] = SublayerAction::Skip;
    return plan;
}

bool isSameCell(const LensCell& found, const LensCell& expected) {
    return found.ids == expected.ids && found.probabilities == expected.probabilities &&
           found.rank == expected.rank && found.probability == expected.probability;
}

LensCell cellOf(const std::vector<double>& logits, TokenId token) {
    return lensCell(summarise(logits), token, logits);
}

} // namespace

class AnswerLensTest : public QObject {
    Q_OBJECT

private slots:
    void eachCellIsAPassThatExitsThere_data();
    void eachCellIsAPassThatExitsThere();
    void thePiecesDoNotMatter();
    void theFirstCellIsTheEmbedding();
    void influenceIsThatOfAPass();
    void silentCopiesAreSilent();
    void theCacheOfOthersStaysAsItIs();
    void thePartGrowsToTheEnd();
    void tokensThatAreNotThereAreRefused_data();
    void tokensThatAreNotThereAreRefused();
    void aPassThatFailsIsReported();
};

void AnswerLensTest::eachCellIsAPassThatExitsThere_data() {
    QTest::addColumn<int>("network");
    QTest::addColumn<QString>("backend");
    QTest::addColumn<QString>("precision");
    BackendRegistry registry(QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    for (std::size_t network = 0; network < configs().size(); ++network)
        for (const std::string& backend : support::usableBackends(registry))
            for (const QString precision : {"float32", "float64"})
                if (backend != "cpu" || precision == "float32")
                    QTest::addRow("%s, %s, %s",
                                  qPrintable(configs()[network].first),
                                  backend.c_str(),
                                  qPrintable(precision))
                        << static_cast<int>(network) << QString::fromStdString(backend)
                        << precision;
}

void AnswerLensTest::eachCellIsAPassThatExitsThere() {
    QFETCH(int, network);
    QFETCH(QString, backend);
    QFETCH(QString, precision);
    BackendRegistry registry(QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    TransformerOptions options;
    options.precision = precision == "float64" ? Precision::F64 : Precision::F32;
    const ModelConfig config = configs()[static_cast<std::size_t>(network)].second;
    const auto weights = support::randomWeights(config, 4);
    const auto transformer =
        registry.find(backend.toStdString()).value()(config, weights, options).value();
    const std::vector<TokenId> text = someText(31);
    AnswerLens lens = beginLens(*transformer, text, 9, 20);
    const std::vector<LensToken> tokens = runLens(lens);
    QCOMPARE(tokens.size(), std::size_t{20});
    for (const LensToken& token : tokens)
        QCOMPARE(token.cells.size(), static_cast<std::size_t>(lensDepths(config.layerCount)));
    std::vector<int> all(text.size());
    std::iota(all.begin(), all.end(), 0);
    for (int depth = 1; depth < lensDepths(config.layerCount); ++depth) {
        KvCache cache = support::emptyCache(*transformer, 64);
        auto exited =
            transformer->forward({.plan = planTo(depth, config.layerCount),
                                  .layout = AttentionLayout::chain(0, static_cast<int>(all.size())),
                                  .tokens = text,
                                  .logitRows = all,
                                  .summaryRows = all},
                                 cache);
        QVERIFY(exited.hasValue());
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            QCOMPARE(tokens[i].token, text[9 + i]);
            const LensCell expected =
                lensCell(exited.value().summaries[8 + i],
                         text[9 + i],
                         support::rowOf(exited.value(), static_cast<int>(8 + i)));
            QVERIFY2(isSameCell(tokens[i].cells[static_cast<std::size_t>(depth)], expected),
                     qPrintable(QString("token %1, depth %2").arg(i).arg(depth)));
        }
    }
}

void AnswerLensTest::thePiecesDoNotMatter() {
    const auto weights = support::randomWeights(support::tinyConfig(), 5);
    const auto transformer = support::plainModel(support::tinyConfig(), weights);
    const std::vector<TokenId> text = someText(200);
    AnswerLens all = beginLens(*transformer, text, 150, 50);
    const std::vector<LensToken> whole = runLens(all);
    for (const int at : {0, 1, 15, 16, 49}) {
        AnswerLens one = beginLens(*transformer, text, 150 + at, 1);
        const std::vector<LensToken> alone = runLens(one);
        QCOMPARE(alone.size(), std::size_t{1});
        for (std::size_t depth = 0; depth < alone[0].cells.size(); ++depth)
            QVERIFY(isSameCell(alone[0].cells[depth],
                               whole[static_cast<std::size_t>(at)].cells[depth]));
    }
}

void AnswerLensTest::theFirstCellIsTheEmbedding() {
    const ModelConfig config = support::cappedConfig(); // its embedding has a scale
    const auto weights = support::randomWeights(config, 5);
    const auto transformer = support::plainModel(config, weights);
    const std::vector<TokenId> text = someText(6);
    AnswerLens lens = beginLens(*transformer, text, 4, 2);
    const std::vector<LensToken> tokens = runLens(lens);
    LayerPlan nothing = LayerPlan::full(config.layerCount);
    std::fill(nothing.attention.begin(), nothing.attention.end(), SublayerAction::Skip);
    std::fill(nothing.mlp.begin(), nothing.mlp.end(), SublayerAction::Skip);
    KvCache cache = support::emptyCache(*transformer, 8);
    const auto logits = support::runChain(*transformer, cache, nothing, text, 6);
    QVERIFY(isSameCell(tokens[0].cells[0], cellOf(logits[3], text[4])));
    QVERIFY(isSameCell(tokens[1].cells[0], cellOf(logits[4], text[5])));
}

void AnswerLensTest::influenceIsThatOfAPass() {
    const ModelConfig config = support::tinyConfig();
    const auto weights = support::randomWeights(config, 6);
    const auto transformer = support::plainModel(config, weights);
    const std::vector<TokenId> text = someText(24);
    AnswerLens lens = beginLens(*transformer, text, 5, 19);
    runLens(lens);
    const LayerPlan plan = LayerPlan::full(config.layerCount);
    KvCache cache = support::emptyCache(*transformer, 32);
    support::runChain(*transformer, cache, plan, std::span(text).first(4), 4);
    const auto passed = transformer->forward({.plan = plan,
                                              .layout = AttentionLayout::chain(4, 19),
                                              .tokens = std::span(text).subspan(4, 19),
                                              .wantsInfluence = true},
                                             cache);
    QCOMPARE(lens.influence().size(), std::size_t{6});
    for (std::size_t sublayer = 0; sublayer < 6; ++sublayer)
        QVERIFY(std::abs(lens.influence()[sublayer] - passed.value().influence[sublayer] / 19.0) <
                1e-12);
}

/// Behind a copy the predictions are those before it, and its influence is next to none.
void AnswerLensTest::silentCopiesAreSilent() {
    const ModelConfig config = withSilentCopies(support::tinyConfig()).value();
    const auto weights = support::randomWeights(config, 7);
    const auto transformer = support::plainModel(config, weights);
    AnswerLens lens = beginLens(*transformer, someText(30), 10, 20);
    const std::vector<LensToken> tokens = runLens(lens);
    const std::vector<double> influence = lens.influence();
    const std::vector<int> copies = config.silentCopies();
    QCOMPARE(copies.size(), std::size_t{3});
    for (const int layer : copies) {
        const std::size_t before = 2 * static_cast<std::size_t>(layer);
        for (const LensToken& token : tokens)
            for (const std::size_t behind : {before + 1, before + 2})
                QVERIFY(std::abs(token.cells[behind].probability -
                                 token.cells[before].probability) < 2e-3);
    }
    for (int layer = 0; layer < config.layerCount; ++layer) {
        const bool isCopy = std::find(copies.begin(), copies.end(), layer) != copies.end();
        for (const int sublayer : {layer, config.layerCount + layer})
            QCOMPARE(influence[static_cast<std::size_t>(sublayer)] < 0.02, isCopy);
    }
}

void AnswerLensTest::theCacheOfOthersStaysAsItIs() {
    const auto weights = support::randomWeights(support::tinyConfig(), 8);
    const auto transformer = support::plainModel(support::tinyConfig(), weights);
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> text = someText(20);
    KvCache alone = support::emptyCache(*transformer, 32);
    const auto expected = support::runChain(*transformer, alone, plan, text, 20);
    KvCache own = support::emptyCache(*transformer, 32);
    support::runChain(*transformer, own, plan, std::span(text).first(10), 10);
    AnswerLens lens = beginLens(*transformer, someText(40), 20, 20);
    runLens(lens);
    const auto rest = support::runChain(*transformer, own, plan, std::span(text).subspan(10), 10);
    QCOMPARE(rest.back(), expected.back());
}

void AnswerLensTest::thePartGrowsToTheEnd() {
    const auto weights = support::randomWeights(support::tinyConfig(), 8);
    const auto transformer = support::plainModel(support::tinyConfig(), weights);
    AnswerLens lens = beginLens(*transformer, someText(200), 180, 20);
    double part = lens.part();
    QCOMPARE(part, 0.0);
    int steps = 0;
    for (; !lens.isDone(); ++steps) {
        QVERIFY(lens.step().hasValue());
        QVERIFY(lens.part() > part);
        part = lens.part();
    }
    QCOMPARE(part, 1.0);
    QCOMPARE(steps, 2 + 2 * 7); // 179 tokens before it, then 16 and 4 rows at 7 depths
}

void AnswerLensTest::tokensThatAreNotThereAreRefused_data() {
    QTest::addColumn<int>("first");
    QTest::addColumn<int>("count");
    QTest::newRow("nothing stands before it") << 0 << 3;
    QTest::newRow("none") << 3 << 0;
    QTest::newRow("beyond the end") << 8 << 3;
    QTest::newRow("far beyond the end") << 11 << 1;
    QTest::newRow("too many") << 1 << std::numeric_limits<int>::max();
}

void AnswerLensTest::tokensThatAreNotThereAreRefused() {
    QFETCH(int, first);
    QFETCH(int, count);
    const auto weights = support::randomWeights(support::tinyConfig(), 8);
    const auto transformer = support::plainModel(support::tinyConfig(), weights);
    const auto lens = AnswerLens::begin(*transformer, someText(10), first, count, kContext);
    QVERIFY(!lens.hasValue());
    QCOMPARE(lens.error().code, ErrorCode::InvalidInput);
    const auto unknown = AnswerLens::begin(*transformer, {1, 2, 160}, 1, 2, kContext);
    QVERIFY(unknown.error().message.find("160") != std::string::npos);
    const auto tooLong = AnswerLens::begin(*transformer, someText(10), 2, 1, 9);
    QCOMPARE(tooLong.error().code, ErrorCode::InvalidInput);
    QVERIFY(AnswerLens::begin(*transformer, someText(10), 2, 1, 10).hasValue());
}

void AnswerLensTest::aPassThatFailsIsReported() {
    auto weights = support::randomWeights(support::tinyConfig(), 9);
    weights.values("model.layers.1.mlp.down_proj.weight").front() = 3e38F;
    const auto transformer =
        makePlainTransformer(support::tinyConfig(), weights, {.precision = Precision::F32}).value();
    AnswerLens lens = beginLens(*transformer, someText(10), 5, 5);
    auto stepped = lens.step();
    while (stepped && !lens.isDone())
        stepped = lens.step();
    QVERIFY(!stepped.hasValue());
    QCOMPARE(stepped.error().code, ErrorCode::Numeric);
}

QTEST_GUILESS_MAIN(AnswerLensTest)
#include "answer_lens_test.moc"
