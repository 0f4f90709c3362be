// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/analysis/measures/two_samples.h"

#include "engine/base/counter_random.h"

#include <algorithm>
#include <map>
#include <utility>

namespace engine {

namespace {

constexpr int kEnded = -1;
constexpr int kEnoughNotSmaller = 50;

/// Statistics of one value may be summed in another order, so they differ by rounding.
constexpr double kRounding = 1e-9;

/// The samples of a pair, those of the first side in front, and what is needed to mix them.
class MixedPair {
public:
    explicit MixedPair(const SamplePair& pair)
        : m_first(pair.first.size())
        , m_order(pair.first.size() + pair.second.size()) {
        std::vector<const std::vector<int>*> all;
        for (const auto* side : {&pair.first, &pair.second})
            for (const std::vector<int>& sample : *side)
                all.push_back(&sample);
        for (std::size_t i = 0; i < m_order.size(); ++i)
            m_order[i] = i;
        std::size_t places = 0;
        for (const auto* sample : all)
            places = std::max(places, sample->size());
        for (std::size_t place = 0; place < places; ++place)
            addPlace(all, place);
        m_inFirst.resize(m_counts.size());
    }

    /// Samples change sides at random; the same numbers give the same order.
    void mix(std::uint64_t seed, std::uint64_t position) {
        const std::uint64_t key = counterKey(seed, position);
        for (std::size_t i = m_order.size(); i > 1; --i) {
            const double part = uniformOf(counterBits(key, static_cast<int>(i)));
            std::swap(m_order[i - 1],
                      m_order[static_cast<std::size_t>(part * static_cast<double>(i))]);
        }
    }

    /// With n samples, t of them of a category, and a of these on the first side, that should have
    /// n1 t / n: the sum of (a - n1 t / n)^2 / t, times n^2 / (n1 n2).
    double statistic() {
        std::fill(m_inFirst.begin(), m_inFirst.end(), 0.0);
        const std::size_t places = m_order.empty() ? 0 : m_categories.size() / m_order.size();
        for (std::size_t place = 0; place < places; ++place)
            for (std::size_t i = 0; i < m_first; ++i)
                m_inFirst[m_categories[place * m_order.size() + m_order[i]]] += 1.0;
        const auto all = static_cast<double>(m_order.size());
        const auto first = static_cast<double>(m_first);
        double sum = 0.0;
        for (std::size_t i = 0; i < m_counts.size(); ++i) {
            const double more = m_inFirst[i] - first * m_counts[i] / all;
            sum += more * more / m_counts[i];
        }
        return sum * all * all / (first * (all - first));
    }

private:
    void addPlace(const std::vector<const std::vector<int>*>& all, std::size_t place) {
        std::map<int, std::size_t> known;
        for (const auto* sample : all) {
            const int category = place < sample->size() ? (*sample)[place] : kEnded;
            const auto [found, isNew] = known.try_emplace(category, m_counts.size());
            if (isNew)
                m_counts.push_back(0.0);
            m_counts[found->second] += 1.0;
            m_categories.push_back(found->second);
        }
    }

    std::size_t m_first;
    std::vector<std::size_t> m_order;      // of the samples
    std::vector<std::size_t> m_categories; // [places][samples] an index into m_counts
    std::vector<double> m_counts;          // of each category of a place
    std::vector<double> m_inFirst;         // of these
};

double statisticOf(std::vector<MixedPair>& pairs) {
    double sum = 0.0;
    for (MixedPair& pair : pairs)
        sum += pair.statistic();
    return sum;
}

} // namespace

TwoSampleTest twoSampleTest(std::span<const SamplePair> pairs, std::uint64_t seed) {
    TwoSampleTest test;
    std::vector<MixedPair> mixed;
    for (const SamplePair& pair : pairs) {
        if (pair.first.empty() || pair.second.empty())
            continue;
        test.first += pair.first.size();
        test.second += pair.second.size();
        mixed.emplace_back(pair);
    }
    if (mixed.empty())
        return test;
    test.statistic = statisticOf(mixed);
    const double least = test.statistic - kRounding * std::max(1.0, test.statistic);
    int notSmaller = 0;
    std::uint64_t position = 0;
    for (int made = 1; made <= kMostMixtures; ++made) {
        for (MixedPair& pair : mixed)
            pair.mix(seed, position++);
        notSmaller += statisticOf(mixed) >= least ? 1 : 0;
        if (notSmaller == kEnoughNotSmaller) {
            test.pValue = static_cast<double>(notSmaller) / made;
            return test;
        }
    }
    test.pValue = static_cast<double>(notSmaller + 1) / (kMostMixtures + 1);
    return test;
}

} // namespace engine
