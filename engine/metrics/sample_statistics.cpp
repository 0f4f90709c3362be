// SPDX-License-Identifier: Apache-2.0
#include "engine/metrics/sample_statistics.h"

#include "engine/base/counter_random.h"
#include "engine/base/result.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace engine {

namespace {

constexpr int kResamplings = 2000;

/// The value at part `part` of sorted samples.
double quantile(std::span<const double> sorted, double part) {
    if (sorted.empty())
        return std::numeric_limits<double>::quiet_NaN();
    const double position = static_cast<double>(sorted.size() - 1) * part;
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double rest = position - static_cast<double>(below);
    return sorted[below] + (sorted[above] - sorted[below]) * rest;
}

std::vector<double> sortedCopy(std::span<const double> samples) {
    std::vector<double> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

using Samples = std::span<const double>;
using Estimator = std::function<double(Samples, Samples)>;

/// The estimate on the pairs themselves, and the interval of those on pairs drawn with replacement.
RatioEstimate
bootstrap(Samples numerators, Samples denominators, std::uint64_t seed, const Estimator& estimate) {
    const std::size_t count = numerators.size();
    ENGINE_CHECK(count == denominators.size(), "{} and {}", count, denominators.size());
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    if (count == 0)
        return {kNone, kNone, kNone};
    std::vector<double> estimates;
    std::vector<double> above(count);
    std::vector<double> below(count);
    for (int round = 0; round < kResamplings; ++round) {
        for (std::size_t i = 0; i < count; ++i) {
            const double draw =
                counterUniform(seed, static_cast<std::uint64_t>(round), static_cast<TokenId>(i));
            const auto chosen = static_cast<std::size_t>(draw * static_cast<double>(count));
            above[i] = numerators[chosen];
            below[i] = denominators[chosen];
        }
        estimates.push_back(estimate(above, below));
    }
    std::sort(estimates.begin(), estimates.end());
    return {
        estimate(numerators, denominators), quantile(estimates, 0.025), quantile(estimates, 0.975)};
}

} // namespace

Spread spreadOf(Samples samples) {
    const auto sorted = sortedCopy(samples);
    return {quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)};
}

double medianOf(Samples samples) { return quantile(sortedCopy(samples), 0.5); }

std::vector<double> ratiosOf(Samples numerators, Samples denominators) {
    ENGINE_CHECK(numerators.size() == denominators.size(),
                 "{} and {}",
                 numerators.size(),
                 denominators.size());
    std::vector<double> ratios(numerators.size());
    std::transform(numerators.begin(),
                   numerators.end(),
                   denominators.begin(),
                   ratios.begin(),
                   std::divides<>());
    return ratios;
}

RatioEstimate ratioOfSums(Samples numerators, Samples denominators, std::uint64_t seed) {
    return bootstrap(numerators, denominators, seed, [](Samples above, Samples below) {
        return std::accumulate(above.begin(), above.end(), 0.0) /
               std::accumulate(below.begin(), below.end(), 0.0);
    });
}

RatioEstimate medianRatio(Samples numerators, Samples denominators, std::uint64_t seed) {
    return bootstrap(numerators, denominators, seed, [](Samples above, Samples below) {
        return medianOf(ratiosOf(above, below));
    });
}

} // namespace engine
