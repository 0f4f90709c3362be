// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace engine {

/// Sum of products. Four running sums, so that additions need not wait for each other; always the
/// same order. Shapes: both [n].
inline double dot(std::span<const double> left, std::span<const double> right) {
    double sums[4] = {};
    std::size_t i = 0;
    for (; i + 4 <= left.size(); i += 4)
        for (std::size_t lane = 0; lane < 4; ++lane)
            sums[lane] += left[i + lane] * right[i + lane];
    for (; i < left.size(); ++i)
        sums[0] += left[i] * right[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Shapes: both [n].
inline double squaredDistance(std::span<const double> left, std::span<const double> right) {
    double sums[4] = {};
    std::size_t i = 0;
    for (; i + 4 <= left.size(); i += 4)
        for (std::size_t lane = 0; lane < 4; ++lane) {
            const double difference = left[i + lane] - right[i + lane];
            sums[lane] += difference * difference;
        }
    for (; i < left.size(); ++i)
        sums[0] += (left[i] - right[i]) * (left[i] - right[i]);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// target += factor * values. Shapes: both [n].
inline void addScaled(std::span<double> target, double factor, std::span<const double> values) {
    for (std::size_t i = 0; i < target.size(); ++i)
        target[i] += factor * values[i];
}

} // namespace engine
