// SPDX-License-Identifier: Apache-2.0
// The dynamic programme alone, on streams whose best paths are known or can be counted out.
#include "engine/search/stream/stream_path.h"
#include "tests/support/value_of.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace engine;

namespace {

using Stream = std::vector<double>;

/// A network of items that change a stream by a rule.
struct Network {
    std::vector<std::function<void(std::span<double>)>> items;
    int width = 0;

    RunItem runner() const {
        return [this](int item, std::span<double> cells) -> Result<void> {
            for (std::size_t at = 0; at < cells.size(); at += static_cast<std::size_t>(width))
                items[static_cast<std::size_t>(item)](
                    cells.subspan(at, static_cast<std::size_t>(width)));
            return {};
        };
    }

    Stream without(const Stream& start, std::span<const std::uint8_t> skipped) const {
        Stream stream = start;
        for (std::size_t i = 0; i < items.size(); ++i)
            if (skipped.empty() || skipped[i] == 0)
                items[i](stream);
        return stream;
    }

    double lossOf(const Stream& start, std::span<const std::uint8_t> skipped) const {
        return streamLoss(without(start, {}), without(start, skipped), 1);
    }
};

int weightOf(const std::vector<int>& weights, std::span<const std::uint8_t> skipped) {
    int sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
        sum += skipped[i] != 0 ? weights[i] : 0;
    return sum;
}

/// The least loss of all sets of each weight; infinite where there is none.
std::vector<double>
bruteForce(const Network& network, const Stream& start, const std::vector<int>& weights, int most) {
    std::vector<double> best(static_cast<std::size_t>(most) + 1,
                             std::numeric_limits<double>::infinity());
    std::vector<std::uint8_t> skipped(weights.size());
    for (unsigned set = 0; set < 1U << weights.size(); ++set) {
        bool isAllowed = true;
        for (std::size_t i = 0; i < skipped.size(); ++i) {
            skipped[i] = set >> i & 1U;
            isAllowed = isAllowed && (skipped[i] == 0 || weights[i] > 0);
        }
        const int weight = weightOf(weights, skipped);
        if (isAllowed && weight <= most)
            best[static_cast<std::size_t>(weight)] =
                std::min(best[static_cast<std::size_t>(weight)], network.lossOf(start, skipped));
    }
    return best;
}

/// Item i adds a vector of squared length gains[i], orthogonal to all others and to the start.
Network additive(const std::vector<double>& gains) {
    Network network;
    network.width = static_cast<int>(gains.size()) + 1;
    for (std::size_t i = 0; i < gains.size(); ++i)
        network.items.emplace_back(
            [i, gain = gains[i]](std::span<double> stream) { stream[i + 1] += std::sqrt(gain); });
    return network;
}

Stream unitStream(int width) {
    Stream stream(static_cast<std::size_t>(width), 0.0);
    stream.front() = 1.0;
    return stream;
}

Network adding(const std::vector<Stream>& vectors) {
    Network network;
    network.width = static_cast<int>(vectors.front().size());
    for (const Stream& vector : vectors)
        network.items.emplace_back([vector](std::span<double> stream) {
            for (std::size_t i = 0; i < vector.size(); ++i)
                stream[i] += vector[i];
        });
    return network;
}

StreamPath pathOf(const Network& network,
                  const Stream& start,
                  const std::vector<int>& weights,
                  int most,
                  int least = 0) {
    return support::valueOf(
        StreamPath::find(start,
                         {.weights = weights, .most = most, .least = least, .width = network.width},
                         network.runner()));
}

} // namespace

class StreamPathTest : public QObject {
    Q_OBJECT

private slots:
    void additiveItemsGiveTheBestOfAllSets();
    void nonlinearItemsAreNeverBetterThanTheBestOfAllSets();
    void aPairThatCancelsIsLeftOut();
    void aDeviationThatIsCorrectedLaterIsGivenUp();
    void equalItemsRun();
    void anItemOfNoWeightOrTooHeavyAlwaysRuns();
    void unwantedCellsNeverChangeAnAnswer();
    void tinyLossesKeepTheirDigits();
    void severalRowsAreSummed();
    void anErrorOfAnItemEndsTheSearch();
};

/// There cosine² = (start + what stays) / (start + all), so the best set is that of a knapsack, and
/// the best of each cell leads to the best of all.
void StreamPathTest::additiveItemsGiveTheBestOfAllSets() {
    std::mt19937 random(1);
    for (int round = 0; round < 60; ++round) {
        const std::size_t count = 1 + random() % 12;
        std::vector<double> gains(count);
        std::vector<int> weights(count);
        for (std::size_t i = 0; i < count; ++i) {
            gains[i] = std::uniform_real_distribution(0.01, 4.0)(random);
            weights[i] = round % 2 == 0 ? 1 : 1 + static_cast<int>(random() % 3);
        }
        int most = 0;
        for (const int weight : weights)
            most += weight;
        const Network network = additive(gains);
        const Stream start = unitStream(network.width);
        const std::vector<double> best = bruteForce(network, start, weights, most);
        const StreamPath path = pathOf(network, start, weights, most);
        for (int weight = 0; weight <= most; ++weight) {
            const double expected = best[static_cast<std::size_t>(weight)];
            QCOMPARE(path.isFilled(weight), std::isfinite(expected));
            if (!path.isFilled(weight))
                continue;
            const auto skipped = path.skipped(weight);
            QCOMPARE(weightOf(weights, skipped), weight);
            QVERIFY(std::abs(network.lossOf(start, skipped) - expected) < 1e-12);
            QVERIFY(std::abs(path.loss(weight) - expected) < 1e-12);
        }
    }
}

/// What is told is true: the loss and the stream of each set are those of running it.
void StreamPathTest::nonlinearItemsAreNeverBetterThanTheBestOfAllSets() {
    std::mt19937 random(2);
    std::normal_distribution<double> normal;
    int equal = 0;
    int counted = 0;
    double worst = 0.0;
    for (int round = 0; round < 50; ++round) {
        constexpr int kWidth = 6;
        constexpr int kItems = 8;
        Network network;
        network.width = kWidth;
        for (int i = 0; i < kItems; ++i) {
            std::vector<double> matrix(kWidth * kWidth);
            for (double& value : matrix)
                value = 0.4 * normal(random);
            network.items.emplace_back([matrix](std::span<double> stream) {
                const Stream in(stream.begin(), stream.end());
                for (std::size_t row = 0; row < kWidth; ++row) {
                    double sum = 0.0;
                    for (std::size_t column = 0; column < kWidth; ++column)
                        sum += matrix[row * kWidth + column] * in[column];
                    stream[row] += std::tanh(sum);
                }
            });
        }
        Stream start(kWidth);
        for (double& value : start)
            value = normal(random);
        const std::vector<int> weights(kItems, 1);
        const std::vector<double> best = bruteForce(network, start, weights, kItems);
        const StreamPath path = pathOf(network, start, weights, kItems);
        for (int weight = 1; weight < kItems; ++weight) {
            const auto skipped = path.skipped(weight);
            const double told = path.loss(weight);
            QVERIFY(std::abs(told - network.lossOf(start, skipped)) < 1e-12);
            const Stream run = network.without(start, skipped);
            QVERIFY(std::equal(run.begin(), run.end(), path.stream(weight).begin()));
            const double gap = told - best[static_cast<std::size_t>(weight)];
            QVERIFY(gap > -1e-12);
            ++counted;
            equal += gap < 1e-12 ? 1 : 0;
            worst = std::max(worst, gap);
        }
    }
    qInfo("the best of all sets in %d of %d cases, at worst %.3f of loss more",
          equal,
          counted,
          worst);
    QVERIFY(equal > counted / 4);
}

/// v, then -v, then u: two left out without any loss.
void StreamPathTest::aPairThatCancelsIsLeftOut() {
    const Network network = adding({{0, 3, 0}, {0, -3, 0}, {0, 0, 2}});
    const StreamPath path = pathOf(network, {1, 0, 0}, {1, 1, 1}, 2);
    QCOMPARE(path.skipped(2), (std::vector<std::uint8_t>{1, 1, 0}));
    QVERIFY(path.loss(2) < 1e-15);
}

/// The price of one stream for each cell: an item that adds little comes first, then one that adds
/// a lot, then one that removes whatever lies in that direction. The best set of one is the second
/// item, without loss; but before the third one ran, the first looked better.
void StreamPathTest::aDeviationThatIsCorrectedLaterIsGivenUp() {
    Network network = adding({{0, 0, 0.1}, {0, 2, 0}});
    network.items.emplace_back([](std::span<double> stream) { stream[1] = 0.0; });
    const Stream start = {1, 0, 0};
    const std::vector<int> weights = {1, 1, 1};
    QVERIFY(bruteForce(network, start, weights, 1)[1] < 1e-15);
    const StreamPath path = pathOf(network, start, weights, 1);
    QCOMPARE(path.skipped(1), (std::vector<std::uint8_t>{1, 0, 0}));
    QVERIFY(path.loss(1) > 1e-3);
}

void StreamPathTest::equalItemsRun() {
    const Network network = adding({{0, 1, 0}, {0, 1, 0}});
    const StreamPath path = pathOf(network, {1, 0, 0}, {1, 1}, 1);
    QCOMPARE(path.skipped(1), (std::vector<std::uint8_t>{1, 0})); // the later one runs
    QCOMPARE(path.skipped(0), (std::vector<std::uint8_t>{0, 0}));
}

void StreamPathTest::anItemOfNoWeightOrTooHeavyAlwaysRuns() {
    const Network network = adding({{0, 1e-9, 0}, {0, 0, 1}, {0, 1e-9, 0}});
    const StreamPath path = pathOf(network, {1, 0, 0}, {0, 2, 3}, 2);
    QVERIFY(!path.isFilled(1));
    QCOMPARE(path.skipped(2), (std::vector<std::uint8_t>{0, 1, 0}));
    const StreamPath nothing = pathOf(network, {1, 0, 0}, {0, 2, 3}, 0);
    QCOMPARE(nothing.most(), 0);
    QCOMPARE(nothing.skipped(0), (std::vector<std::uint8_t>{0, 0, 0}));
    const Stream all = network.without({1, 0, 0}, {});
    QVERIFY(std::equal(all.begin(), all.end(), nothing.stream(0).begin()));
}

void StreamPathTest::unwantedCellsNeverChangeAnAnswer() {
    std::mt19937 random(4);
    for (int round = 0; round < 40; ++round) {
        std::vector<double> gains(9);
        std::vector<int> weights(9);
        int all = 0;
        for (std::size_t i = 0; i < gains.size(); ++i) {
            gains[i] = std::uniform_real_distribution(0.01, 4.0)(random);
            all += weights[i] = static_cast<int>(random() % 4);
        }
        const Network network = additive(gains);
        const Stream start = unitStream(network.width);
        const StreamPath full = pathOf(network, start, weights, all);
        for (int least = 0; least <= all; ++least) {
            const StreamPath part = pathOf(network, start, weights, all, least);
            for (int weight = least; weight <= all; ++weight) {
                QCOMPARE(part.isFilled(weight), full.isFilled(weight));
                if (!full.isFilled(weight))
                    continue;
                QCOMPARE(part.skipped(weight), full.skipped(weight));
                QCOMPARE(part.loss(weight), full.loss(weight));
            }
        }
    }
}

void StreamPathTest::tinyLossesKeepTheirDigits() {
    const Stream full = {1.0, 0.0};
    const Stream near = {1.0, 1e-9};
    const double loss = streamLoss(full, near, 1);
    QVERIFY(std::abs(loss - 0.5e-18) < 1e-21);
    QCOMPARE(streamLoss(full, full, 1), 0.0);
    QCOMPARE(streamLoss({}, {}, 1), 0.0);
    QCOMPARE(streamLoss(Stream{0.0, 0.0}, full, 1), 1.0);
}

void StreamPathTest::severalRowsAreSummed() {
    const Stream full = {1, 0, 0, 1};
    const Stream other = {0, 2, 0, 3};
    QVERIFY(std::abs(streamLoss(full, other, 2) - 1.0) < 1e-15);
}

void StreamPathTest::anErrorOfAnItemEndsTheSearch() {
    int runs = 0;
    const auto found = StreamPath::find(Stream{1.0},
                                        {.weights = {1, 1, 1}, .most = 2, .width = 1},
                                        [&](int, std::span<double>) -> Result<void> {
                                            if (++runs == 2)
                                                return Error{ErrorCode::Cancelled, "enough", ""};
                                            return {};
                                        });
    QVERIFY(!found.hasValue());
    QCOMPARE(found.error().code, ErrorCode::Cancelled);
    QCOMPARE(runs, 2);
}

QTEST_GUILESS_MAIN(StreamPathTest)
#include "stream_path_test.moc"
