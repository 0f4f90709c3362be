// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/data/data_order.h"

#include <QTest>

#include <algorithm>

using namespace engine;

namespace {

/// So many prompts of each of these tasks, in turn as long as they last.
std::vector<std::string> mixed(std::vector<std::pair<std::string, int>> counts) {
    std::vector<std::string> tasks;
    for (bool hasMore = true; hasMore;) {
        hasMore = false;
        for (auto& [task, count] : counts)
            if (count-- > 0) {
                tasks.push_back(task);
                hasMore = true;
            }
    }
    return tasks;
}

std::string tasksIn(const std::vector<std::string>& tasks, const std::vector<std::size_t>& order) {
    std::string text;
    for (const std::size_t index : order)
        text += tasks[index];
    return text;
}

bool isPermutation(std::vector<std::size_t> order, std::size_t count) {
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i)
        if (order[i] != i)
            return false;
    return order.size() == count;
}

} // namespace

class DataOrderTest : public QObject {
    Q_OBJECT

private slots:

    void everyOrderHasAName() {
        QCOMPARE(dataOrderOf("as-is"), std::optional(DataOrder::AsIs));
        QCOMPARE(dataOrderOf("by-task"), std::optional(DataOrder::ByTask));
        QCOMPARE(dataOrderOf("shuffled"), std::optional(DataOrder::Shuffled));
        QCOMPARE(dataOrderOf("drift"), std::optional(DataOrder::Drift));
        QVERIFY(!dataOrderOf("random"));
    }

    void eachOrderHasEveryPromptOnce() {
        const auto tasks = mixed({{"a", 7}, {"b", 1}, {"c", 30}});
        for (const auto order :
             {DataOrder::AsIs, DataOrder::ByTask, DataOrder::Shuffled, DataOrder::Drift})
            for (const std::uint64_t seed : {0, 1, 99}) {
                QVERIFY(isPermutation(orderedIndexes(tasks, order, seed), tasks.size()));
                QVERIFY(orderedIndexes({}, order, seed).empty());
                QCOMPARE(orderedIndexes({"x"}, order, seed).size(), std::size_t(1));
            }
    }

    void tasksComeAsTheyFirstAppear() {
        const std::vector<std::string> tasks = {"b", "a", "b", "c", "a"};
        QVERIFY(orderedIndexes(tasks, DataOrder::AsIs, 1) ==
                (std::vector<std::size_t>{0, 1, 2, 3, 4}));
        QVERIFY(orderedIndexes(tasks, DataOrder::ByTask, 1) ==
                (std::vector<std::size_t>{0, 2, 1, 4, 3}));
    }

    /// The numbers are written down, so that another machine or a change would be seen.
    void aSeedGivesTheSameOrderEverywhere() {
        const auto tasks = mixed({{"a", 4}, {"b", 4}});
        QVERIFY(orderedIndexes(tasks, DataOrder::Shuffled, 1) == kShuffledBySeed1);
        QVERIFY(orderedIndexes(tasks, DataOrder::Shuffled, 2) != kShuffledBySeed1);
        QVERIFY(orderedIndexes(tasks, DataOrder::Drift, 1) == kDriftedBySeed1);
    }

    void shufflingMovesAllKindsOfPlaces() {
        const std::vector<std::string> tasks(1000, "a");
        const auto order = orderedIndexes(tasks, DataOrder::Shuffled, 5);
        std::size_t early = 0; // of the first half, still in the first half
        for (std::size_t place = 0; place < 500; ++place)
            early += order[place] < 500 ? 1 : 0;
        QVERIFY2(early > 200 && early < 300, std::to_string(early).c_str());
    }

    void driftKeepsTheOrderWithinATask() {
        const auto tasks = mixed({{"a", 40}, {"b", 40}, {"c", 5}});
        const auto order = orderedIndexes(tasks, DataOrder::Drift, 3);
        for (const std::string task : {"a", "b", "c"}) {
            std::vector<std::size_t> own;
            std::copy_if(order.begin(), order.end(), std::back_inserter(own), [&](auto index) {
                return tasks[index] == task;
            });
            QVERIFY(std::is_sorted(own.begin(), own.end()));
        }
    }

    /// The share of the new task around a change: none before W, a half at it, all behind W.
    void driftFadesOneTaskIntoTheNext() {
        constexpr int kEach = 400; // W = 200
        const auto tasks = mixed({{"a", kEach}, {"b", kEach}, {"c", kEach}});
        std::vector<double> share(3 * kEach); // of b, over many seeds
        constexpr int kSeeds = 40;
        for (int seed = 0; seed < kSeeds; ++seed) {
            const std::string drifted =
                tasksIn(tasks, orderedIndexes(tasks, DataOrder::Drift, std::uint64_t(seed)));
            for (std::size_t i = 0; i < drifted.size(); ++i)
                share[i] += drifted[i] == 'b' ? 1.0 / kSeeds : 0.0;
        }
        const auto mean = [&share](int from, int to) {
            double sum = 0.0;
            for (int i = from; i < to; ++i)
                sum += share[std::size_t(i)];
            return sum / (to - from);
        };
        QCOMPARE(mean(0, 195), 0.0);
        QVERIFY(std::abs(mean(390, 410) - 0.5) < 0.1);
        QVERIFY(std::abs(mean(290, 310) - 0.125) < 0.06); // half of W before: 1/8
        QVERIFY(std::abs(mean(490, 510) - 0.875) < 0.06);
        QVERIFY(mean(595, 605) > 0.99);
        QVERIFY(std::abs(mean(790, 810) - 0.5) < 0.1);
        QCOMPARE(mean(1005, 1200), 0.0);
    }

private:
    const std::vector<std::size_t> kShuffledBySeed1 = {6, 5, 1, 4, 0, 3, 2, 7};
    const std::vector<std::size_t> kDriftedBySeed1 = {0, 2, 4, 1, 6, 3, 5, 7};
};

QTEST_APPLESS_MAIN(DataOrderTest)
#include "data_order_test.moc"
