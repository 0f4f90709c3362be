// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace engine {

/// The quartiles of samples. A plain value.
struct Spread {
    double lower = 0.0; ///< first quartile
    double median = 0.0;
    double upper = 0.0; ///< third quartile
};

/// Quartiles by linear interpolation between order statistics (position (n - 1) q); NaN without
/// samples.
Spread spreadOf(std::span<const double> samples);

double medianOf(std::span<const double> samples); ///< spreadOf(samples).median

/// numerators[i] / denominators[i]. Shapes: both [n].
std::vector<double> ratiosOf(std::span<const double> numerators,
                             std::span<const double> denominators);

/// A ratio and its confidence interval. A plain value.
struct RatioEstimate {
    double ratio = 0.0;
    double low = 0.0; ///< 95 % bootstrap interval
    double high = 0.0;
};

/// The ratio of two sums over pairs that were sampled together, with the interval of 2,000
/// resamplings of the pairs (percentiles; the draws depend on `seed` alone). NaN without pairs.
/// Source: Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 1979.
/// Shapes: both [n].
RatioEstimate ratioOfSums(std::span<const double> numerators,
                          std::span<const double> denominators,
                          std::uint64_t seed = 1);

/// The same for the median of the pairs' own ratios.
RatioEstimate medianRatio(std::span<const double> numerators,
                          std::span<const double> denominators,
                          std::uint64_t seed = 1);

/// Samples of one kind: pairs that were sampled together. Shapes: both [n].
struct SampleGroup {
    std::vector<double> numerators;
    std::vector<double> denominators;
};

/// The mean over groups of their ratios of sums, with equal weight for each group; for the interval
/// the pairs are resampled within each group. NaN without groups or with an empty one.
RatioEstimate meanRatioOfSums(std::span<const SampleGroup> groups, std::uint64_t seed = 1);

} // namespace engine
