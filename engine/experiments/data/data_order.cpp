// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/data/data_order.h"

#include "engine/base/counter_random.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

namespace engine {

namespace {

constexpr std::array kOrderNames = {std::pair{DataOrder::AsIs, std::string_view("as-is")},
                                    std::pair{DataOrder::ByTask, std::string_view("by-task")},
                                    std::pair{DataOrder::Shuffled, std::string_view("shuffled")},
                                    std::pair{DataOrder::Drift, std::string_view("drift")}};

/// Positions are counted in parts of this size, in whole numbers: these are alike everywhere.
constexpr std::int64_t kPartsOfPosition = 65536;

/// A random number from 0 to kPartsOfPosition - 1.
std::int64_t drawParts(std::uint64_t seed, std::size_t index, TokenId which) {
    return static_cast<std::int64_t>(counterBits(counterKey(seed, index), which) %
                                     static_cast<std::uint64_t>(kPartsOfPosition));
}

/// Sorts indexes by their keys; equal ones keep their order.
template <typename Key>
std::vector<std::size_t> sortedBy(std::vector<std::size_t> indexes, const std::vector<Key>& keys) {
    std::stable_sort(indexes.begin(), indexes.end(), [&keys](std::size_t a, std::size_t b) {
        return keys[a] < keys[b];
    });
    return indexes;
}

/// For each prompt the number of its task, counted from 0 as they first appear.
std::vector<std::size_t> taskNumbers(const std::vector<std::string>& tasks) {
    std::map<std::string_view, std::size_t> known;
    std::vector<std::size_t> numbers;
    for (const std::string& task : tasks)
        numbers.push_back(known.try_emplace(task, known.size()).first->second);
    return numbers;
}

/// `byTask` is the order ByTask, whose tasks are moved.
std::vector<std::size_t> drifted(const std::vector<std::size_t>& byTask,
                                 const std::vector<std::size_t>& taskOf,
                                 std::uint64_t seed) {
    const std::size_t count = byTask.size();
    const std::size_t taskCount = taskOf[byTask.back()] + 1;
    const auto width = static_cast<std::int64_t>(count) * kPartsOfPosition /
                       static_cast<std::int64_t>(2 * taskCount);
    std::vector<std::int64_t> moved(count); // [place in byTask]
    std::vector<std::size_t> places(count);
    std::iota(places.begin(), places.end(), std::size_t{0});
    for (const std::size_t place : places) {
        const std::int64_t shift = drawParts(seed, place, 1) - drawParts(seed, place, 2);
        moved[place] =
            static_cast<std::int64_t>(place) * kPartsOfPosition + shift * width / kPartsOfPosition;
    }
    // Each place goes to the next prompt of its task, so that these keep their order.
    std::vector<std::size_t> next(taskCount); // [task] place in byTask
    for (std::size_t place = count; place-- > 0;)
        next[taskOf[byTask[place]]] = place;
    std::vector<std::size_t> order;
    for (const std::size_t place : sortedBy(places, moved))
        order.push_back(byTask[next[taskOf[byTask[place]]]++]);
    return order;
}

} // namespace

std::optional<DataOrder> dataOrderOf(std::string_view name) {
    for (const auto& [order, each] : kOrderNames)
        if (each == name)
            return order;
    return std::nullopt;
}

std::vector<std::size_t>
orderedIndexes(const std::vector<std::string>& tasks, DataOrder order, std::uint64_t seed) {
    std::vector<std::size_t> indexes(tasks.size());
    std::iota(indexes.begin(), indexes.end(), std::size_t{0});
    if (order == DataOrder::AsIs || tasks.empty())
        return indexes;
    if (order == DataOrder::Shuffled) {
        std::vector<std::uint64_t> keys;
        for (const std::size_t index : indexes)
            keys.push_back(counterBits(counterKey(seed, index), 0));
        return sortedBy(std::move(indexes), keys);
    }
    const std::vector<std::size_t> taskOf = taskNumbers(tasks);
    indexes = sortedBy(std::move(indexes), taskOf);
    return order == DataOrder::Drift ? drifted(indexes, taskOf, seed) : indexes;
}

} // namespace engine
