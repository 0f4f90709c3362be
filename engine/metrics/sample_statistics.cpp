// SPDX-License-Identifier: Apache-2.0
#include "engine/metrics/sample_statistics.h"

#include "engine/base/counter_random.h"
#include "engine/base/result.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

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

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// The same number of pairs, drawn with replacement; `draw` is the number of the resampling.
void resample(Samples numerators,
              Samples denominators,
              const std::pair<std::uint64_t, int>& draw,
              SampleGroup& out) {
    const std::size_t count = numerators.size();
    out.numerators.resize(count);
    out.denominators.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        const double part = counterUniform(
            draw.first, static_cast<std::uint64_t>(draw.second), static_cast<TokenId>(i));
        const auto chosen = static_cast<std::size_t>(part * static_cast<double>(count));
        out.numerators[i] = numerators[chosen];
        out.denominators[i] = denominators[chosen];
    }
}

/// The estimate on the pairs themselves, and the interval of those on resampled ones.
RatioEstimate
bootstrap(Samples numerators, Samples denominators, std::uint64_t seed, const Estimator& estimate) {
    ENGINE_CHECK(numerators.size() == denominators.size(),
                 "{} and {}",
                 numerators.size(),
                 denominators.size());
    if (numerators.empty())
        return {kNone, kNone, kNone};
    std::vector<double> estimates;
    SampleGroup drawn;
    for (int round = 0; round < kResamplings; ++round) {
        resample(numerators, denominators, {seed, round}, drawn);
        estimates.push_back(estimate(drawn.numerators, drawn.denominators));
    }
    std::sort(estimates.begin(), estimates.end());
    return {
        estimate(numerators, denominators), quantile(estimates, 0.025), quantile(estimates, 0.975)};
}

double sumRatio(Samples numerators, Samples denominators) {
    return std::accumulate(numerators.begin(), numerators.end(), 0.0) /
           std::accumulate(denominators.begin(), denominators.end(), 0.0);
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
    return bootstrap(numerators, denominators, seed, sumRatio);
}

RatioEstimate medianRatio(Samples numerators, Samples denominators, std::uint64_t seed) {
    return bootstrap(numerators, denominators, seed, [](Samples above, Samples below) {
        return medianOf(ratiosOf(above, below));
    });
}

RatioEstimate meanRatioOfSums(std::span<const SampleGroup> groups, std::uint64_t seed) {
    if (groups.empty())
        return {kNone, kNone, kNone};
    const auto count = static_cast<double>(groups.size());
    double mean = 0.0;
    for (const SampleGroup& group : groups)
        mean += sumRatio(group.numerators, group.denominators) / count;
    std::vector<double> estimates(kResamplings, 0.0);
    SampleGroup drawn;
    for (std::size_t i = 0; i < groups.size(); ++i)
        for (int round = 0; round < kResamplings; ++round) {
            resample(groups[i].numerators, groups[i].denominators, {seed + i, round}, drawn);
            estimates[static_cast<std::size_t>(round)] +=
                sumRatio(drawn.numerators, drawn.denominators) / count;
        }
    std::sort(estimates.begin(), estimates.end());
    return {mean, quantile(estimates, 0.025), quantile(estimates, 0.975)};
}

} // namespace engine
