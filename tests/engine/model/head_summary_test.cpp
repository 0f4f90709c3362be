// SPDX-License-Identifier: Apache-2.0
#include "engine/model/head_summary.h"
#include "engine/model/plain/plain_backend.h"
#include "engine/model/transformer.h"
#include "tests/support/models/tiny_model.h"
#include "tests/support/transformers/forward_helpers.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using namespace engine;

namespace {

std::unique_ptr<Transformer> makeTransformer(Precision precision) {
    const ModelConfig config = support::tinyConfig();
    return makePlainTransformer(
               config, support::randomWeights(config, 11), {.precision = precision})
        .value();
}

/// By sorting everything.
std::vector<TokenId> bestIds(std::span<const double> logits) {
    std::vector<TokenId> ids(logits.size());
    std::iota(ids.begin(), ids.end(), 0);
    std::stable_sort(ids.begin(), ids.end(), [&](TokenId a, TokenId b) {
        return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
    });
    ids.resize(std::min(ids.size(), static_cast<std::size_t>(HeadSummary::kMost)));
    return ids;
}

bool isEqual(const HeadSummary& a, const HeadSummary& b) {
    return a.ids == b.ids && a.logits == b.logits && a.count == b.count &&
           a.logSumExp == b.logSumExp;
}

} // namespace

class HeadSummaryTest : public QObject {
    Q_OBJECT

private slots:
    void theBestComeFirstAndOfEqualsTheLowerId();
    void probabilitiesAreThoseOfTheWholeVocabulary();
    void smallVocabulariesGiveSmallSummaries();
    void hugeLogitsStayFinite();
    void aTokenCanBeLeftOut();
    void headRowsAreComputedOnce();
    void passesSummariseTheRowsAskedFor();
    void aResultCanBeUsedAgain();
};

void HeadSummaryTest::theBestComeFirstAndOfEqualsTheLowerId() {
    std::mt19937 random(1);
    for (int round = 0; round < 300; ++round) {
        std::vector<double> logits(1 + random() % 60);
        for (double& logit : logits)
            logit = static_cast<double>(random() % 12) - 6.0; // many ties
        const HeadSummary summary = summarise(logits);
        const std::vector<TokenId> wanted = bestIds(logits);
        QCOMPARE(summary.count, static_cast<int>(wanted.size()));
        for (std::size_t rank = 0; rank < wanted.size(); ++rank) {
            QCOMPARE(summary.ids[rank], wanted[rank]);
            QCOMPARE(summary.logits[rank], logits[static_cast<std::size_t>(wanted[rank])]);
            QCOMPARE(summary.rankOf(wanted[rank]), static_cast<int>(rank));
        }
        QCOMPARE(summary.best(), wanted.front());
    }
}

void HeadSummaryTest::probabilitiesAreThoseOfTheWholeVocabulary() {
    std::mt19937 random(2);
    std::normal_distribution<double> normal(0.0, 3.0);
    std::vector<double> logits(500);
    for (double& logit : logits)
        logit = normal(random);
    const HeadSummary summary = summarise(logits);
    double total = 0.0;
    for (const double logit : logits)
        total += summary.probabilityOf(logit);
    QVERIFY(std::abs(total - 1.0) < 1e-12);
    for (int rank = 0; rank < summary.count; ++rank)
        QCOMPARE(
            summary.probability(rank),
            summary.probabilityOf(
                logits[static_cast<std::size_t>(summary.ids[static_cast<std::size_t>(rank)])]));
}

void HeadSummaryTest::smallVocabulariesGiveSmallSummaries() {
    const std::vector<double> logits = {0.0, std::log(3.0)};
    const HeadSummary summary = summarise(logits);
    QCOMPARE(summary.count, 2);
    QCOMPARE(summary.best(), 1);
    QVERIFY(std::abs(summary.probability(0) - 0.75) < 1e-15);
    QVERIFY(std::abs(summary.probability(1) - 0.25) < 1e-15);
    QCOMPARE(summary.rankOf(5), -1);
    QCOMPARE(summarise(std::vector<double>{4.0}).probability(0), 1.0);
    QCOMPARE(summarise(std::vector<double>{4.0}).rankOf(0), 0);
    QVERIFY_THROWS_EXCEPTION(EngineBug, (void)summarise({}));
}

void HeadSummaryTest::hugeLogitsStayFinite() {
    const HeadSummary summary = summarise(std::vector<double>{1e6, -1e300, 1e6});
    QCOMPARE(summary.best(), 0);
    QVERIFY(std::abs(summary.probability(0) - 0.5) < 1e-9);
    QCOMPARE(summary.probabilityOf(-1e300), 0.0);
}

void HeadSummaryTest::aTokenCanBeLeftOut() {
    std::mt19937 random(5);
    for (int round = 0; round < 300; ++round) {
        std::vector<double> logits(2 + random() % 30);
        for (double& logit : logits)
            logit = static_cast<double>(random() % 1000) / 100.0 - 5.0;
        const auto token = static_cast<std::size_t>(random() % logits.size());
        if (round % 3 == 0)
            logits[token] = 800.0; // all others have next to nothing
        const HeadSummary whole = summarise(logits);
        const bool isAmongBest = whole.rankOf(static_cast<TokenId>(token)) >= 0;
        HeadSummary found = whole;
        found.remove(static_cast<TokenId>(token));
        if (!isAmongBest) {
            QVERIFY(isEqual(found, whole));
            continue;
        }
        logits[token] = -std::numeric_limits<double>::infinity();
        const HeadSummary expected = summarise(logits);
        QCOMPARE(found.count, whole.count - 1);
        for (int rank = 0; rank < found.count; ++rank)
            QCOMPARE(found.ids[static_cast<std::size_t>(rank)],
                     expected.ids[static_cast<std::size_t>(rank)]);
        // What was lost to rounding beside a sure token cannot be known again.
        const double tolerance = round % 3 == 0 ? 1.5 : 1e-9;
        QVERIFY(std::abs(found.logSumExp - expected.logSumExp) < tolerance);
        QVERIFY(found.probability(0) <= 1.0 && found.probability(0) > 0.0);
    }
}

void HeadSummaryTest::headRowsAreComputedOnce() {
    const std::vector<int> logitRows = {4, 2};
    const std::vector<int> summaryRows = {2, 7, 4, 0, 7};
    const HeadRows wanted(logitRows, summaryRows);
    QCOMPARE(wanted.rows, (std::vector<int>{4, 2, 7, 0}));
    QCOMPARE(wanted.summaryPlaces, (std::vector<int>{1, 2, 0, 3, 2}));
}

void HeadSummaryTest::passesSummariseTheRowsAskedFor() {
    for (const Precision precision : {Precision::F32, Precision::F64}) {
        const auto transformer = makeTransformer(precision);
        KvCache cache = transformer->makeCache(8).value();
        const LayerPlan plan = LayerPlan::full(3);
        const AttentionLayout layout = AttentionLayout::chain(0, 4);
        const std::vector<TokenId> tokens = {3, 1, 4, 1};
        const std::vector<int> all = {0, 1, 2, 3};
        const std::vector<int> some = {3, 1};
        const std::vector<int> logitRows = {1, 2};
        auto whole = transformer->forward(
            {.plan = plan, .layout = layout, .tokens = tokens, .logitRows = all}, cache);
        QVERIFY(whole.hasValue());
        std::vector<std::vector<double>> expected;
        for (const int row : all)
            expected.push_back(support::rowOf(whole.value(), row));
        auto mixed = transformer->forward({.plan = plan,
                                           .layout = layout,
                                           .tokens = tokens,
                                           .logitRows = logitRows,
                                           .summaryRows = some},
                                          cache);
        QVERIFY(mixed.hasValue());
        QVERIFY(whole.value().summaries.empty());
        QCOMPARE(mixed.value().summaries.size(), std::size_t{2});
        for (std::size_t i = 0; i < some.size(); ++i)
            QVERIFY(isEqual(mixed.value().summaries[i],
                            summarise(expected[static_cast<std::size_t>(some[i])])));
        QCOMPARE(mixed.value().logits.count(), 2);
        for (int i = 0; i < 2; ++i)
            QCOMPARE(support::rowOf(mixed.value(), i),
                     expected[static_cast<std::size_t>(logitRows[static_cast<std::size_t>(i)])]);
    }
}

void HeadSummaryTest::aResultCanBeUsedAgain() {
    const auto transformer = makeTransformer(Precision::F64);
    KvCache cache = transformer->makeCache(8).value();
    const LayerPlan plan = LayerPlan::full(3);
    const AttentionLayout layout = AttentionLayout::chain(0, 2);
    const std::vector<TokenId> tokens = {5, 6};
    const std::vector<int> rows = {0, 1};
    HiddenRows hidden;
    const HandOut handOut{1, &hidden};
    ForwardResult result;
    QVERIFY(transformer
                ->forwardInto({.plan = plan,
                               .layout = layout,
                               .tokens = tokens,
                               .logitRows = rows,
                               .summaryRows = rows,
                               .handOuts = {&handOut, 1},
                               .wantsInfluence = true},
                              cache,
                              result)
                .hasValue());
    QVERIFY(hidden.count() == 2 && !result.influence.empty());
    const HeadSummary first = result.summaries[1];
    const std::vector<int> last = {1};
    QVERIFY(
        transformer
            ->forwardInto({.plan = plan, .layout = layout, .tokens = tokens, .summaryRows = last},
                          cache,
                          result)
            .hasValue());
    QVERIFY(result.logits.count() == 0 && result.influence.empty());
    QCOMPARE(result.summaries.size(), std::size_t{1});
    QVERIFY(isEqual(result.summaries.front(), first));
}

QTEST_APPLESS_MAIN(HeadSummaryTest)

#include "head_summary_test.moc"
#include "tests/support/transformers/forward_helpers.h"
