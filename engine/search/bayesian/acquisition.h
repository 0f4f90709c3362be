// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/search/bayesian/gaussian_process.h"
#include "engine/search/numerics/search_random.h"
#include "engine/search/skip_space.h"

#include <stop_token>
#include <vector>

namespace engine {

/// A search for the point with the highest upper confidence bound, mean + kappa std. The process
/// holds at least one point; all references are borrowed.
struct Acquisition {
    const GaussianProcess& process;
    const SkipBudget& budget; ///< costs [dims]; the total that a set may spend
    double kappa = 2.5;
    bool isRatioFree = false;  ///< any set is allowed, whatever it spends
    std::stop_token stop = {}; ///< polled every few milliseconds
};

struct AcquisitionMaximum {
    std::vector<double> point; ///< [dims]
    double value = 0.0;
};

/// The best point found in the box [0, 1]^dims: takes the best of 2,000 uniform points, then climbs
/// by gradient from there, from the best known point and from 10 more uniform points. The published
/// code draws 10,000; with 256 known points 2,000 cost about a tenth of a second, as much as the
/// climbs. Errors: Cancelled.
Result<AcquisitionMaximum> maximiseInTheBox(const Acquisition& acquisition, SearchRandom& random);

/// The best skip set found, as a point of 0 and 1: climbs by swaps (by flips when the ratio is
/// free) from the best sets known and the best of 200 random ones. Errors: Cancelled.
Result<AcquisitionMaximum> maximiseOverSets(const Acquisition& acquisition, SearchRandom& random);

} // namespace engine
