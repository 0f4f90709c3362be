// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/search/skip_space.h"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string_view>
#include <vector>

namespace engine {

/// The origin of a measured plan.
enum class TrialKind {
    Start,    ///< a start set: the uniform one, a saved one, the one of least influence
    Random,   ///< drawn
    Bayesian, ///< suggested by the surrogate
    Rescore,  ///< the best set again, on another window
    Manual,   ///< chosen by the user
};

std::string_view trialKindName(TrialKind kind); ///< "start", "random", ...

/// One plan to measure. A plain value.
struct Trial {
    TrialKind kind = TrialKind::Random;
    LayerPlan plan;
    std::vector<std::uint8_t> bits; ///< [dims] 1 = skip
    std::vector<double> point;      ///< [dims] the point for which a Bayesian search learns the
                                    ///< score
};

/// A trial for a plan that was not proposed by a search.
Trial makeTrial(TrialKind kind, const SkipSpace& space, const LayerPlan& plan);

/// Chooses the next plan to measure and learns from its score. Deterministic: the same seed and
/// the same calls give the same plans. Thread: engine.
class LayerSearch {
public:
    virtual ~LayerSearch() = default;

    /// The next candidate. It stays within the budget, and skips exactly the budget's number if all
    /// coordinates cost 1. Errors: Cancelled (the next call draws other random numbers).
    virtual Result<Trial> nextTrial(std::stop_token stop) = 0;

    /// Learns a score, also for a plan it did not propose. Scores are finite; higher is better.
    virtual void record(const Trial& trial, double score) = 0;
};

/// The options of every search.
struct LayerSearchOptions {
    SkipSpace space;
    SkipBudget budget; ///< costs [space.dims()]
    std::uint64_t seed = 1;
    /// [dims], none negative, or empty: random proposals draw coordinates without replacement in
    /// proportion to these, instead of all alike.
    std::vector<double> weights = {};
};

/// Draws coordinates without replacement until the budget is spent. It remembers nothing, so a set
/// may occur again. Source: arXiv 2410.06916.
std::unique_ptr<LayerSearch> makeRandomSearch(const LayerSearchOptions& options);

/// How a Bayesian search finds the point of the highest upper confidence bound.
enum class BayesianMaximiser {
    ContinuousTopK, ///< in the box [0, 1]^dims, as published; the highest coordinates are skipped
    Discrete,       ///< among the skip sets themselves, by swaps
};

/// Which of a point's equal coordinates are skipped first.
enum class TieBreak {
    Seeded,        ///< in random order
    Lexicographic, ///< by the names "x0", "x1", "x10", ..., as published
};

/// Settings of a Bayesian search.
struct BayesianOptions {
    double kappa = 2.5; ///< standard deviations added to the mean
    BayesianMaximiser maximiser = BayesianMaximiser::ContinuousTopK;
    /// Learn the score for the continuous point, as published, and not for the set measured.
    bool registerContinuousPoint = false;
    TieBreak tieBreak = TieBreak::Seeded;
    /// Skip the coordinates above .5 and ignore the budget (Self-SD, arXiv 2309.08168).
    bool isRatioFree = false;
};

/// A Gaussian process over all recorded trials and its upper confidence bound. The length scale is
/// fitted at the first and every fourth suggestion. With nothing recorded it draws a set.
/// A suggestion takes up to half a second with 256 recorded trials; the stop token is polled
/// every few milliseconds. Source: arXiv 2410.06916, section 4.1.2; differs in its defaults: learns
/// the set measured, breaks ties at random, forgets beyond 256 trials, fits every fourth time.
std::unique_ptr<LayerSearch> makeBayesianSearch(const LayerSearchOptions& options,
                                                const BayesianOptions& bayesian);

} // namespace engine
