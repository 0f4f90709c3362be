// SPDX-License-Identifier: Apache-2.0
#include "engine/base/counter_random.h"
#include "engine/sampling/logit_blocks.h"
#include "engine/sampling/noise/exponential.h"
#include "engine/sampling/row_weight.h"
#include "engine/sampling/sampler.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

using namespace engine;

namespace {

/// Keeps the tokens whose information is nearest to the entropy of the law of `order`; returns what
/// they weigh together.
double keepTypical(double part, const std::vector<double>& p, std::vector<std::size_t>& order) {
    double total = 0.0;
    for (const std::size_t id : order)
        total += p[id];
    if (part >= 1.0)
        return total;
    double entropy = 0.0;
    for (const std::size_t id : order)
        if (p[id] > 0.0)
            entropy -= p[id] / total * std::log(p[id] / total);
    const auto distance = [&](std::size_t id) {
        return std::abs(-std::log(p[id] / total) - entropy);
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return distance(a) != distance(b) ? distance(a) < distance(b) : a < b;
    });
    double sum = 0.0;
    std::size_t kept = 0;
    while (kept < order.size() && (kept == 0 || sum < part * total))
        sum += p[order[kept++]];
    order.resize(kept);
    return sum;
}

/// The definition, step by step over the whole vocabulary: what quick ways are compared with.
Distribution plainDistribution(const std::vector<double>& logits, const SamplingOptions& options) {
    const double highest = *std::max_element(logits.begin(), logits.end());
    std::vector<double> sorted = logits;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    const std::size_t topK = static_cast<std::size_t>(options.topK);
    const double least = topK > 0 && topK < sorted.size() ? sorted[topK - 1] : sorted.back();
    std::vector<double> p(logits.size(), 0.0);
    for (std::size_t id = 0; id < p.size(); ++id)
        if (logits[id] >= least)
            p[id] = std::exp((logits[id] - highest) / options.temperature);
    const double total = std::accumulate(p.begin(), p.end(), 0.0);
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(
        order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
    std::size_t kept = 0;
    double sum = 0.0;
    while (kept < order.size() && (kept == 0 || options.topP >= 1.0 || sum < options.topP * total))
        sum += p[order[kept++]];
    order.resize(kept);
    if (options.minP > 0.0)
        std::erase_if(
            order, [&, least = options.minP * p[order.front()]](auto id) { return p[id] < least; });
    sum = keepTypical(options.typicalP, p, order);
    std::sort(order.begin(), order.end());
    Distribution distribution;
    for (const std::size_t id : order)
        if (p[id] / sum > 0.0) {
            distribution.ids.push_back(static_cast<TokenId>(id));
            distribution.probabilities.push_back(p[id] / sum);
        }
    return distribution;
}

/// All of them, best first.
std::vector<TokenId> plainDraws(const Distribution& p, std::uint64_t seed, Position position) {
    std::vector<std::pair<double, TokenId>> scores;
    for (std::size_t i = 0; i < p.ids.size(); ++i)
        scores.emplace_back(-std::log(p.probabilities[i]) -
                                counterGumbel(seed, static_cast<std::uint64_t>(position), p.ids[i]),
                            p.ids[i]);
    std::sort(scores.begin(), scores.end());
    std::vector<TokenId> ids;
    for (const auto& [score, id] : scores)
        ids.push_back(id);
    return ids;
}

/// Normal numbers rounded to eighths, so that some are equal; float32 as logits are.
std::vector<double> randomRow(std::size_t size, double scale, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0.0, scale);
    std::vector<double> row(size);
    for (double& logit : row) {
        const double drawn = normal(random);
        logit = random() % 4 == 0 ? std::round(8.0 * drawn) / 8.0 : static_cast<float>(drawn);
    }
    return row;
}

} // namespace

class QuickSamplingTest : public QObject {
    Q_OBJECT

private slots:
    void lawsAndDrawsAreThoseOfTheDefinition_data();
    void lawsAndDrawsAreThoseOfTheDefinition();
    void equalLogitsAreKeptFromTheLowestIdOn();
    void aTokenFarBelowIsDrawnWhenItsNoiseIsHighest();
    void weightsAreThoseOfTheExponential();
    void theWeightOfARowHasTheSameBitsInVectors();
    void theKthHighestIsFoundInRowsOfAnyLength();
};

void QuickSamplingTest::lawsAndDrawsAreThoseOfTheDefinition_data() {
    QTest::addColumn<double>("temperature");
    QTest::addColumn<int>("topK");
    QTest::addColumn<double>("topP");
    QTest::addColumn<double>("minP");
    QTest::addColumn<double>("typicalP");
    QTest::newRow("nothing cut") << 1.0 << 0 << 1.0 << 0.0 << 1.0;
    QTest::newRow("cool") << 0.05 << 0 << 1.0 << 0.0 << 1.0;
    QTest::newRow("top-p") << 0.7 << 0 << 0.9 << 0.0 << 1.0;
    QTest::newRow("top-p, hot") << 5.0 << 0 << 0.95 << 0.0 << 1.0;
    QTest::newRow("nearly all") << 1.0 << 0 << 0.999999 << 0.0 << 1.0;
    QTest::newRow("next to none") << 1.0 << 0 << 1e-6 << 0.0 << 1.0;
    QTest::newRow("top-k") << 1.0 << 7 << 1.0 << 0.0 << 1.0;
    QTest::newRow("top-k beyond the blocks") << 1.0 << 700 << 1.0 << 0.0 << 1.0;
    QTest::newRow("both") << 0.8 << 40 << 0.95 << 0.0 << 1.0;
    QTest::newRow("min-p") << 1.0 << 0 << 1.0 << 0.05 << 1.0;
    QTest::newRow("min-p, hot") << 3.0 << 0 << 1.0 << 0.3 << 1.0;
    QTest::newRow("typical-p") << 1.0 << 0 << 1.0 << 0.0 << 0.9;
    QTest::newRow("typical-p, little") << 0.7 << 0 << 1.0 << 0.0 << 0.2;
    QTest::newRow("all four") << 1.2 << 60 << 0.97 << 0.01 << 0.8;
    QTest::newRow("min-p behind top-p") << 1.0 << 0 << 0.9 << 0.1 << 1.0;
}

void QuickSamplingTest::lawsAndDrawsAreThoseOfTheDefinition() {
    QFETCH(double, temperature);
    QFETCH(int, topK);
    QFETCH(double, topP);
    QFETCH(double, minP);
    QFETCH(double, typicalP);
    std::uint64_t seed = 1;
    for (const std::size_t size : {1U, 2U, 63U, 64U, 65U, 1000U, 20'000U})
        for (const double scale : {0.1, 2.0, 6.0}) {
            const SamplingOptions options{.temperature = temperature,
                                          .topK = topK,
                                          .topP = topP,
                                          .minP = minP,
                                          .typicalP = typicalP,
                                          .seed = ++seed};
            const std::vector<double> row = randomRow(size, scale, seed);
            const Sampler sampler(options);
            const Distribution expected = plainDistribution(row, options);
            const Distribution found = sampler.distribution(row);
            QVERIFY2(found.ids == expected.ids, qPrintable(QString("%1 %2").arg(size).arg(scale)));
            for (std::size_t i = 0; i < expected.ids.size(); ++i)
                QVERIFY(std::abs(found.probabilities[i] - expected.probabilities[i]) <=
                        1e-12 * expected.probabilities[i] + 1e-300);
            for (const Position position : {0, 1, 2, 3000}) {
                std::vector<TokenId> draws = plainDraws(expected, options.seed, position);
                QCOMPARE(sampler.choose(row, position), draws.front());
                QCOMPARE(drawByNoise(expected, options.seed, position), draws.front());
                draws.resize(std::min<std::size_t>(draws.size(), 5));
                QCOMPARE(sampler.chooseSeveral(row, 5, position), draws);
            }
        }
}

void QuickSamplingTest::equalLogitsAreKeptFromTheLowestIdOn() {
    const std::vector<double> row(500, 1.5);
    const Distribution found = Sampler({.temperature = 1.0, .topP = 0.5}).distribution(row);
    QCOMPARE(found.ids.size(), std::size_t{250});
    QCOMPARE(found.ids.back(), 249);
    // All that tie with the K-th stay.
    QCOMPARE(Sampler({.temperature = 1.0, .topK = 3}).distribution(row).ids.size(), row.size());
}

/// Where the first bits of the random number have to show that the noise can win.
void QuickSamplingTest::aTokenFarBelowIsDrawnWhenItsNoiseIsHighest() {
    constexpr std::uint64_t kSeed = 5;
    std::vector<double> row(3000, 0.0);
    row[0] = 4.0;
    int low = 0;
    for (Position position = 0; position < 3000; ++position) {
        const SamplingOptions options{.temperature = 1.0, .seed = kSeed};
        const TokenId drawn = Sampler(options).choose(row, position);
        const auto place = static_cast<std::uint64_t>(position);
        TokenId best = 0;
        for (TokenId id = 1; id < 3000; ++id)
            if (row[static_cast<std::size_t>(id)] + counterGumbel(kSeed, place, id) >
                row[static_cast<std::size_t>(best)] + counterGumbel(kSeed, place, best))
                best = id;
        QCOMPARE(drawn, best);
        low += drawn == 0 ? 0 : 1;
    }
    QVERIFY(low > 2900); // of 3000 low ones against e^4
}

void QuickSamplingTest::weightsAreThoseOfTheExponential() {
    QCOMPARE(exponentialOf(0.0), 1.0);
    for (double x = 0.0; x >= kLeastExponent; x -= 0.0137) {
        const double expected = std::exp(x);
        QVERIFY2(std::abs(exponentialOf(x) - expected) <= 1e-14 * expected,
                 qPrintable(QString::number(x)));
    }
}

void QuickSamplingTest::theWeightOfARowHasTheSameBitsInVectors() {
    for (const std::size_t size : {1U, 7U, 64U, 1001U, 49'152U}) {
        const std::vector<double> row = randomRow(size, 9.0, size);
        const double highest = *std::max_element(row.begin(), row.end());
        double chains[8] = {};
        for (std::size_t id = 0; id < (size + 63) / 64 * 64; ++id) {
            const double exponent = id < size ? (row[id] - highest) / 0.03 : kLeastExponent;
            // One number at a time, whatever the compiler thinks of it.
            volatile double weight = exponentialOf(std::max(exponent, kLeastExponent));
            chains[id % 8] += weight;
        }
        QCOMPARE(rowWeight(row, highest, 0.03),
                 std::accumulate(std::begin(chains), std::end(chains), 0.0));
    }
}

void QuickSamplingTest::theKthHighestIsFoundInRowsOfAnyLength() {
    for (const std::size_t size : {1U, 64U, 100U, 5000U}) {
        const std::vector<double> row = randomRow(size, 3.0, size);
        std::vector<double> sorted = row;
        std::sort(sorted.begin(), sorted.end(), std::greater<>());
        const LogitBlocks blocks(row);
        QCOMPARE(blocks.highest(), sorted.front());
        for (const std::size_t k : {1U, 2U, 50U, 79U, 80U, 5000U})
            QVERIFY(blocks.highestAt(static_cast<int>(k)) ==
                    (k <= size ? sorted[k - 1] : -std::numeric_limits<double>::infinity()));
    }
}

QTEST_GUILESS_MAIN(QuickSamplingTest)
#include "quick_sampling_test.moc"
