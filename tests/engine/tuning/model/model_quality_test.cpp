// SPDX-License-Identifier: Apache-2.0
// What a tuned model must keep: perplexity and agreement, against sums made by hand.
#include "engine/model/plain/plain_backend.h"
#include "engine/tuning/model/model_quality.h"
#include "engine/tuning/training/evaluation.h"
#include "tests/engine/tuning/tuning_rows.h"
#include "tests/support/models/tiny_model.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace engine;

namespace {

std::unique_ptr<Transformer> model(unsigned seed) {
    const ModelConfig config = support::tinyConfig();
    support::MemoryWeights weights = support::randomWeights(config, seed);
    auto made = makePlainTransformer(config, weights, {.precision = Precision::F64});
    ENGINE_CHECK(made.hasValue(), "{}", made.error().message);
    return std::move(made).value();
}

constexpr std::uint64_t kSeed = 5;

/// Two texts of more rows than are read at a time, the second one of few.
class Texts {
public:
    Texts()
        : m_rows(
              tuning_rows::storeOf(m_folder.path(),
                                   {{tuning_rows::someRows(150, 7, 1), RowSplit::Validation, "a"},
                                    {tuning_rows::someRows(9, 4, 2), RowSplit::Validation, "b"}})) {
    }

    TextReading
    read(Transformer& transformer, int most = 10'000, TokenId forbidden = kNoToken) const {
        const auto reading =
            readTexts(transformer, m_rows, {.seed = kSeed, .tokens = most}, forbidden, {});
        ENGINE_CHECK(reading.hasValue(), "{}", reading.error().message);
        return reading.value();
    }

    const RowStore& rows() const { return m_rows; }

private:
    test_support::TemporaryFolder m_folder;
    RowStore m_rows;
};

ModelQuality quality(double before, double after, double agreement) {
    ModelQuality made;
    made.tokens = 100;
    made.perplexityBefore = before;
    made.perplexityAfter = after;
    made.agreement = agreement;
    return made;
}

} // namespace

class ModelQualityTest : public QObject {
    Q_OBJECT

private slots:
    void perplexityIsThatOfOnePassOverTheText();
    void aModelAgreesWithItselfAndNotWithAnother();
    void tokensAreCountedUpToTheMost();
    void longPromptsTakeNoTokensAway();
    void theMaskIsNeverTheBestToken();
    void whatIsNotKeptIsSaid();
    void aBrokenModelHasFiguresThatCanBeTold();
    void aStoppedMeasurementEnds();
};

void ModelQualityTest::perplexityIsThatOfOnePassOverTheText() {
    const Texts texts;
    const auto transformer = model(3);
    const TextReading reading = texts.read(*transformer);
    double surprise = 0.0;
    std::vector<TokenId> best;
    for (const TextPlace place : textsToEvaluate(texts.rows(), RowSplit::Validation, 1000, kSeed)) {
        const AnswerRows text = texts.rows().read(place).value();
        const int count = text.rows();
        std::vector<int> rows(toSize(count));
        std::iota(rows.begin(), rows.end(), 0);
        const LayerPlan plan = LayerPlan::full(transformer->config().layerCount);
        const AttentionLayout layout = AttentionLayout::chain(0, count);
        KvCache cache = transformer->makeCache(count).value();
        auto pass = transformer->forward(
            {.plan = plan, .layout = layout, .tokens = text.tokens, .logitRows = rows}, cache);
        QVERIFY(pass.hasValue());
        for (int row = text.promptRows - 1; row < count; ++row) {
            const auto logits = pass.value().logits.row(row).value();
            const TokenId token = row + 1 < count ? text.tokens[toSize(row + 1)] : text.last;
            double sum = 0.0;
            for (const double logit : logits)
                sum += std::exp(logit);
            surprise += std::log(sum) - logits[toSize(token)];
            best.push_back(static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin()));
        }
    }
    QVERIFY(reading.best == best);
    QCOMPARE(best.size(), std::size_t{144 + 6});
    QVERIFY(std::abs(reading.surprise - surprise) < 1e-9 * surprise);
    QVERIFY(std::abs(reading.perplexity() - std::exp(surprise / 150.0)) <
            1e-9 * reading.perplexity());
}

void ModelQualityTest::aModelAgreesWithItselfAndNotWithAnother() {
    const Texts texts;
    const TextReading one = texts.read(*model(3));
    const ModelQuality same = compareReadings(one, texts.read(*model(3)), true);
    QCOMPARE(same.agreement, 1.0);
    QCOMPARE(same.perplexityAfter, same.perplexityBefore);
    QVERIFY(same.isKept());
    const ModelQuality other = compareReadings(one, texts.read(*model(4)), true);
    QVERIFY(other.agreement < 0.2);
    QVERIFY(!other.isKept());
}

void ModelQualityTest::tokensAreCountedUpToTheMost() {
    const Texts texts;
    const auto transformer = model(3);
    const TextReading all = texts.read(*transformer);
    const TextReading some = texts.read(*transformer, 70);
    QCOMPARE(some.best.size(), std::size_t{70});
    QVERIFY(std::equal(some.best.begin(), some.best.end(), all.best.begin()));
}

/// Rows of prompts are read, but say nothing of the quality.
void ModelQualityTest::longPromptsTakeNoTokensAway() {
    const test_support::TemporaryFolder folder;
    std::vector<tuning_rows::StoredText> texts;
    for (unsigned i = 0; i < 20; ++i)
        texts.push_back({tuning_rows::someRows(50, 45, i), RowSplit::Validation, "a"});
    texts.push_back({tuning_rows::someRows(90, 10, 20), RowSplit::Training, "a"});
    const RowStore rows = tuning_rows::storeOf(folder.path(), texts);
    const auto transformer = model(3);
    const auto some = readTexts(*transformer, rows, {.tokens = 100}, kNoToken, {});
    QCOMPARE(some.value().best.size(), std::size_t{100});
    const auto all = readTexts(*transformer, rows, {.tokens = 1000}, kNoToken, {});
    QCOMPARE(all.value().best.size(), std::size_t{20 * 6}); // of the split alone
}

void ModelQualityTest::theMaskIsNeverTheBestToken() {
    const Texts texts;
    const TextReading plain = texts.read(*model(3));
    const TokenId common = plain.best.front();
    const TextReading masked = texts.read(*model(3), 10'000, common);
    QVERIFY(std::ranges::count(plain.best, common) > 0);
    QCOMPARE(std::ranges::count(masked.best, common), 0);
}

void ModelQualityTest::whatIsNotKeptIsSaid() {
    QVERIFY(quality(2.0, 2.0599, 0.9001).isKept());
    QVERIFY(quality(2.0, 1.5, 1.0).isKept());
    ModelQuality worse = quality(2.0, 2.0601, 0.95);
    QVERIFY(worse.failing().find("2.060") != std::string::npos);
    QVERIFY(worse.failing().find("held-out texts") != std::string::npos);
    worse.isHeldOut = false;
    QVERIFY(worse.failing().find("held-out") == std::string::npos);
    QVERIFY(quality(2.0, 2.0, 0.8999).failing().find("untouched") != std::string::npos);
    const double none = std::numeric_limits<double>::quiet_NaN();
    QVERIFY(!quality(2.0, none, 0.95).isKept());
    QVERIFY(!quality(2.0, 2.0, none).isKept());
}

void ModelQualityTest::aBrokenModelHasFiguresThatCanBeTold() {
    const TextReading good{.surprise = 2.0, .best = {1, 2}};
    for (const double surprise :
         {1e6, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        const TextReading broken{.surprise = surprise, .best = {1, 2}};
        QCOMPARE(broken.perplexity(), kHighestPerplexity);
        QVERIFY(!compareReadings(good, broken, true).isKept());
        QVERIFY(!compareReadings(broken, broken, true).isKept());
    }
    QVERIFY(compareReadings(good, good, true).isKept());
}

void ModelQualityTest::aStoppedMeasurementEnds() {
    const Texts texts;
    std::stop_source source;
    source.request_stop();
    const auto stopped = readTexts(*model(3), texts.rows(), {}, kNoToken, source.get_token());
    QVERIFY(!stopped.hasValue());
    QCOMPARE(stopped.error().code, ErrorCode::Cancelled);
}

QTEST_GUILESS_MAIN(ModelQualityTest)
#include "model_quality_test.moc"
