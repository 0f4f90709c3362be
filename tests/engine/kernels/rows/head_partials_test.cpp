// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/kernels/rows/row_variants.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace engine;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

HeadPartial summaryOf(const RowKernels& kernels, const std::vector<float>& logits, TokenId first) {
    EdgeRow<float> in(logits);
    HeadPartial partial;
    kernels.summarise(in.data(), static_cast<int>(logits.size()), first, &partial);
    return partial;
}

HeadTotal
summaryOfTiles(const RowKernels& kernels, const std::vector<float>& logits, int tileSize) {
    std::vector<HeadPartial> partials;
    for (std::size_t at = 0; at < logits.size(); at += static_cast<std::size_t>(tileSize)) {
        const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(at);
        const auto count = std::min<std::ptrdiff_t>(tileSize, logits.end() - begin);
        partials.push_back(summaryOf(kernels, {begin, begin + count}, static_cast<TokenId>(at)));
    }
    return combinePartials(partials.data(), static_cast<int>(partials.size()));
}

/// Ids by descending logit, equal ones by ascending id.
std::vector<TokenId> sortedIds(const std::vector<float>& logits) {
    std::vector<TokenId> ids(logits.size());
    std::iota(ids.begin(), ids.end(), 0);
    std::stable_sort(ids.begin(), ids.end(), [&](TokenId a, TokenId b) {
        return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
    });
    return ids;
}

/// Whether the best of a summary, whose ids begin at `first`, are those of a sort.
template <typename Summary>
bool hasTopOf(const Summary& summary, const std::vector<float>& logits, TokenId first) {
    const std::vector<TokenId> ids = sortedIds(logits);
    for (std::size_t i = 0; i < kSummaryTop; ++i) {
        const bool exists = i < ids.size();
        if (summary.ids[i] != (exists ? ids[i] + first : kNoToken))
            return false;
        if (summary.logits[i] != (exists ? logits[static_cast<std::size_t>(ids[i])] : -kInfinity))
            return false;
    }
    return true;
}

double logSumExp(const std::vector<float>& logits) {
    const double highest = *std::max_element(logits.begin(), logits.end());
    double sum = 0.0;
    for (const float logit : logits)
        sum += std::exp(logit - highest);
    return highest + std::log(sum);
}

/// Logits of which many are equal.
std::vector<float> coarseLogits(int count, unsigned seed) {
    std::vector<float> logits = randomRow(count, seed, 2.0F);
    for (float& logit : logits)
        logit = std::round(logit);
    return logits;
}

} // namespace

class HeadTotalTest : public QObject {
    Q_OBJECT

private slots:

    void initTestCase_data() { addVariants(); }

    void theTopTenAreThoseOfASort();
    void equalLogitsGoToTheLowestId();
    void theOrderOfArrivalDoesNotMatter();
    void sumsAgreeWithDoublePrecision();
    void tilesJoinToTheWholeVocabulary();
    void logitsFarApartNeitherOverflowNorVanish();
    void whatIsNotFiniteIsTold();
    void onlyNotANumberLeavesAnEmptyTop();
    void bothVectorSetsGiveTheSameBits();
};

void HeadTotalTest::theTopTenAreThoseOfASort() {
    FETCH_KERNELS;
    for (unsigned seed = 0; seed < 20; ++seed)
        for (const int count : {1, 2, 9, 10, 11, 15, 16, 17, 31, 33, 100, 256, 511, 512, 1024}) {
            const std::vector<float> fine = randomRow(count, seed, 5.0F);
            QVERIFY(hasTopOf(summaryOf(kernels, fine, 300), fine, 300));
            const std::vector<float> coarse = coarseLogits(count, seed);
            QVERIFY(hasTopOf(summaryOf(kernels, coarse, 0), coarse, 0));
        }
}

void HeadTotalTest::equalLogitsGoToTheLowestId() {
    FETCH_KERNELS;
    const HeadPartial partial = summaryOf(kernels, std::vector<float>(500, -2.5F), 1000);
    for (int i = 0; i < kSummaryTop; ++i)
        QCOMPARE(partial.ids[i], 1000 + i);
    const HeadTotal whole = summaryOfTiles(kernels, std::vector<float>(500, -2.5F), 7);
    for (int i = 0; i < kSummaryTop; ++i)
        QCOMPARE(whole.ids[i], i);
}

void HeadTotalTest::theOrderOfArrivalDoesNotMatter() {
    FETCH_KERNELS;
    std::vector<float> rising(512);
    std::iota(rising.begin(), rising.end(), -100.0F);
    QVERIFY(hasTopOf(summaryOf(kernels, rising, 0), rising, 0));
    std::reverse(rising.begin(), rising.end());
    QVERIFY(hasTopOf(summaryOf(kernels, rising, 0), rising, 0));
    for (std::size_t lane = 0; lane < 16; ++lane) { // all of the best in one lane
        std::vector<float> logits = randomRow(512, 3);
        for (std::size_t i = lane; i < logits.size(); i += 16)
            logits[i] += 100.0F;
        QVERIFY(hasTopOf(summaryOf(kernels, logits, 0), logits, 0));
    }
}

void HeadTotalTest::sumsAgreeWithDoublePrecision() {
    FETCH_KERNELS;
    for (const int count : testedWidths()) {
        const std::vector<float> logits = randomRow(count, 4, 6.0F);
        const HeadPartial partial = summaryOf(kernels, logits, 0);
        QCOMPARE(partial.highest, *std::max_element(logits.begin(), logits.end()));
        const double sum = std::exp(logSumExp(logits) - partial.highest);
        QVERIFY(relativeError(partial.sum, sum) < 1e-6);
        QVERIFY(partial.isFinite);
    }
}

void HeadTotalTest::tilesJoinToTheWholeVocabulary() {
    FETCH_KERNELS;
    for (unsigned seed = 0; seed < 8; ++seed)
        for (const int tileSize : {1, 16, 100, 512, 5000}) {
            const std::vector<float> logits =
                seed % 2 == 0 ? randomRow(3001, seed, 4.0F) : coarseLogits(3001, seed);
            const HeadTotal summary = summaryOfTiles(kernels, logits, tileSize);
            QVERIFY(hasTopOf(summary, logits, 0));
            QVERIFY(std::abs(summary.logSumExp - logSumExp(logits)) < 2e-6);
            QVERIFY(summary.isFinite);
        }
}

void HeadTotalTest::logitsFarApartNeitherOverflowNorVanish() {
    FETCH_KERNELS;
    const std::vector<float> logits{-3e38F, 1e30F, -5000.0F, 1e30F, 80.0F};
    const HeadTotal summary = summaryOfTiles(kernels, logits, 2);
    QVERIFY(hasTopOf(summary, logits, 0));
    QCOMPARE(summary.logSumExp, static_cast<double>(1e30F));
    QVERIFY(summary.isFinite);
}

void HeadTotalTest::whatIsNotFiniteIsTold() {
    FETCH_KERNELS;
    for (const int count : {1, 16, 21, 300})
        for (int place = 0; place < count; ++place)
            for (const float bad : {kNan, kInfinity, -kInfinity}) {
                std::vector<float> logits = randomRow(count, 6);
                logits[static_cast<std::size_t>(place)] = bad;
                const HeadPartial partial = summaryOf(kernels, logits, 0);
                QVERIFY(!partial.isFinite);
                QVERIFY(!combinePartials(&partial, 1).isFinite);
                // What can be ordered still is; -infinity and NaN are never among the best.
                std::vector<float> ordered = logits;
                if (bad != kInfinity)
                    ordered[static_cast<std::size_t>(place)] = -kInfinity;
                if (count > kSummaryTop)
                    QVERIFY(hasTopOf(partial, ordered, 0));
            }
}

void HeadTotalTest::onlyNotANumberLeavesAnEmptyTop() {
    FETCH_KERNELS;
    for (const float bad : {kNan, -kInfinity}) {
        const HeadPartial partial = summaryOf(kernels, std::vector<float>(40, bad), 0);
        QVERIFY(hasTopOf(partial, {}, 0));
        QVERIFY(!partial.isFinite);
    }
}

void HeadTotalTest::bothVectorSetsGiveTheSameBits() {
    FETCH_KERNELS;
    const RowKernels* other = runnableKernels("AVX2");
    if (variant != "AVX-512" || other == nullptr)
        QSKIP("there is nothing to compare with");
    for (const int count : testedWidths()) {
        const std::vector<float> logits = randomRow(count, 7, 20.0F);
        const HeadPartial partial = summaryOf(kernels, logits, 0);
        const HeadPartial otherPartial = summaryOf(*other, logits, 0);
        QCOMPARE(partial.sum, otherPartial.sum);
        QCOMPARE(partial.highest, otherPartial.highest);
        QVERIFY(std::equal(partial.ids, partial.ids + kSummaryTop, otherPartial.ids));
    }
}

QTEST_GUILESS_MAIN(HeadTotalTest)
#include "head_partials_test.moc"
