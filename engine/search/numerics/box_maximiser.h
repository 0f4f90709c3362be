// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace engine {

/// A smooth function: returns its value at a point and writes its gradient there. Shapes: [dims].
using BoxFunction =
    std::function<double(std::span<const double> point, std::span<double> gradient)>;

/// The bounds and limits of a maximisation.
struct BoxClimb {
    double lower = 0.0; ///< bounds of every coordinate
    double upper = 1.0;
    double firstStep = 0.25; ///< largest change of a coordinate while the curvature is unknown
    int iterations = 50;
    std::stop_token stop = {}; ///< polled before each evaluation
};

struct BoxMaximum {
    std::vector<double> point;
    double value = 0.0;
};

/// Climbs from `start` (moved into the box) to a local maximum, never below the start's value:
/// limited-memory BFGS in the coordinates that no bound holds back, line search along the path
/// bent at the bounds. Errors: Cancelled.
/// Source: Nocedal, Wright, "Numerical optimization", 2006, algorithms 7.4 and 16.5; simplified.
Result<BoxMaximum>
maximiseInBox(const BoxFunction& function, std::vector<double> start, const BoxClimb& climb);

/// The error of a search whose stop token requested the end.
Error searchCancelled();

} // namespace engine
