// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace engine {

/// Two samples of the same experiment, such as the continuations of one prompt by two decoders: of
/// each, the category (a token's id, at least 0) at every place. A shorter one has ended, which is
/// a category, too. A plain value.
struct SamplePair {
    std::vector<std::vector<int>> first;
    std::vector<std::vector<int>> second;
};

/// A plain value.
struct TwoSampleTest {
    double statistic = 0.0; ///< Pearson's chi-squared, summed over places and pairs
    double pValue = 1.0;
    std::size_t first = 0; ///< samples of all pairs
    std::size_t second = 0;
};

/// The number of mixed samples with which a p-value is found, at most: enough for the limit of some
/// 50 tests that are seldom wrong together.
inline constexpr int kMostMixtures = 99'999;

/// Whether the first and the second samples of all pairs may have one distribution, which may
/// differ from pair to pair: a permutation test. The statistic is Pearson's chi-squared of
/// homogeneity (Philosophical Magazine 1900) of the categories at each place. The p-value is the
/// share of mixtures, in which each pair's samples change sides at random, whose statistic is not
/// smaller, the pair as it is counted as one of them (Phipson and Smyth, "Permutation p-values
/// should never be zero", SAGMB 2010); as soon as 50 of them are not smaller, no more are made
/// (Besag and Clifford, "Sequential Monte Carlo p-values", Biometrika 1991). So it is never too
/// small, however rare the categories are and however places depend on each other. All samples must
/// be independent; a pair without samples of both sides says nothing. The same arguments give the
/// same bits.
TwoSampleTest twoSampleTest(std::span<const SamplePair> pairs, std::uint64_t seed = 1);

} // namespace engine
