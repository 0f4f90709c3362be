// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace engine {

/// The random numbers of a search: one stream, reproducible from its seed.
class SearchRandom {
public:
    explicit SearchRandom(std::uint64_t seed)
        : m_engine(seed) {}

    std::uint64_t bits() { return m_engine(); }

    /// Uniform in (0, 1), neither end included.
    double uniform() { return (static_cast<double>(m_engine() >> 11U) + 0.5) * 0x1.0p-53; }

    std::vector<double> uniformPoint(int dims) {
        std::vector<double> point(static_cast<std::size_t>(dims));
        for (double& coordinate : point)
            coordinate = uniform();
        return point;
    }

    /// All coordinates, drawn one after the other without replacement in proportion to `weights`
    /// ([dims], none negative; empty: all alike). Those of weight 0 come last, shuffled.
    /// Source: Efraimidis, Spirakis, "Weighted random sampling with a reservoir", 2006.
    std::vector<int> order(int dims, std::span<const double> weights = {}) {
        std::vector<double> keys(static_cast<std::size_t>(dims));
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const double weight = weights.empty() ? 1.0 : weights[i];
            const double draw = std::log(uniform());
            keys[i] = weight > 0.0 ? draw / weight : -std::numeric_limits<double>::infinity();
        }
        return descending(keys);
    }

    /// The coordinates by descending value; those of equal value are shuffled.
    std::vector<int> descending(std::span<const double> values) {
        const std::vector<double> ties = uniformPoint(static_cast<int>(values.size()));
        std::vector<int> result(values.size());
        std::iota(result.begin(), result.end(), 0);
        std::sort(result.begin(), result.end(), [&](int left, int right) {
            const auto a = static_cast<std::size_t>(left);
            const auto b = static_cast<std::size_t>(right);
            return values[a] != values[b] ? values[a] > values[b] : ties[a] < ties[b];
        });
        return result;
    }

private:
    std::mt19937_64 m_engine;
};

} // namespace engine
