// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/search/numerics/cholesky_factor.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace engine {

/// Settings of a GaussianProcess; the defaults are those of arXiv 2410.06916's published code.
struct GaussianProcessOptions {
    double noise = 1e-2; ///< variance of an observation, in units of the targets' own variance
    double shortestLength = 1e-5; ///< bounds of the fitted length scale
    double longestLength = 1e5;
    int restarts = 5;        ///< random starts of a fit besides the current scale and 1
    int maximumPoints = 256; ///< beyond this many, points are forgotten
    int newestKept = 192;    ///< number of newest points that are never forgotten
};

/// The prediction of the function at one point, in the targets' units.
struct Posterior {
    double mean = 0.0;
    double std = 0.0; ///< of the function itself, without the noise of an observation
};

/// Log marginal likelihood of the normalised targets.
struct Likelihood {
    double value = 0.0;
    double gradientByLogLengthScale = 0.0;
};

/// Gaussian process regression: Matern kernel (nu = 2.5) of one length scale and no amplitude,
/// noise on the diagonal, targets shifted by their mean and divided by their population standard
/// deviation (by 1 when that is 0). An added point costs O(points^2): the factor grows by a row.
///
/// At most `maximumPoints` are kept: the `newestKept` newest, and of the older ones those with the
/// highest targets (of equal ones the newer). Thread: one at a time.
/// Source: Rasmussen, Williams, "Gaussian processes for machine learning", 2006, algorithm 2.1.
class GaussianProcess {
public:
    explicit GaussianProcess(const GaussianProcessOptions& options = {});

    /// Adds one observation; the same point may occur again. Shapes: point [dims], the same dims
    /// each time. Numbers that are not finite are a bug (ENGINE_CHECK).
    void add(std::span<const double> point, double target);

    int size() const { return static_cast<int>(m_points.size()); }

    /// Kept points, oldest first. Shapes: [dims].
    std::span<const double> point(int index) const {
        return m_points[static_cast<std::size_t>(index)];
    }

    double target(int index) const { return m_targets[static_cast<std::size_t>(index)]; }

    /// The `count` points (or all) of the highest targets, best first; of equal ones the older.
    std::vector<int> best(int count) const;

    Posterior posterior(std::span<const double> point) const;

    /// The same from the squared distances to the kept points. Shapes: [size].
    Posterior posteriorAt(std::span<const double> squaredDistances) const;

    /// Squared distances of a point to the kept points. Shapes: [size].
    std::vector<double> squaredDistances(std::span<const double> point) const;

    /// mean + kappa std at a point, and its gradient. Shapes: both [dims].
    double ucb(std::span<const double> point, double kappa, std::span<double> gradient) const;

    Likelihood logMarginalLikelihood(double lengthScale) const;

    double lengthScale() const { return m_lengthScale; }

    void setLengthScale(double lengthScale);

    /// Sets the length scale to the most likely one found: climbs from the current scale, from 1
    /// and from seeded scales that are evenly spread in the logarithm over the bounds. Errors:
    /// Cancelled, with the scale unchanged.
    Result<void> fitLengthScale(std::uint64_t seed, std::stop_token stop);

private:
    void forgetOne();
    void refactor();
    void updateWeights();
    bool appendRow(CholeskyFactor& factor, double lengthScale, double jitter) const;
    CholeskyFactor factorFor(double lengthScale, double& jitter) const;

    GaussianProcessOptions m_options;
    double m_lengthScale = 1.0;
    double m_jitter = 0.0; // added to the diagonal after a factor has failed
    std::vector<std::vector<double>> m_points;
    std::vector<double> m_targets;
    std::vector<std::vector<double>> m_distances; // row i: squared distances to points 0 to i
    CholeskyFactor m_factor;
    double m_targetMean = 0.0;
    double m_targetStd = 1.0;
    std::vector<double> m_normalised; // [size] targets without mean and deviation
    std::vector<double> m_weights;    // [size] inverse covariance times m_normalised
};

} // namespace engine
