// SPDX-License-Identifier: Apache-2.0
#include "engine/search/bayesian/gaussian_process.h"

#include "engine/search/numerics/box_maximiser.h"
#include "engine/search/numerics/search_random.h"
#include "engine/search/numerics/vector_math.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

namespace engine {

namespace {

constexpr double kFirstJitter = 1e-10;
constexpr double kLargestJitter = 1e-2;

/// sqrt(5) distance / length: the kernel's own measure of distance.
double scaledDistance(double squaredDistance, double lengthScale) {
    return std::sqrt(5.0 * squaredDistance) / lengthScale;
}

double matern(double scaled) { return (1.0 + scaled + scaled * scaled / 3.0) * std::exp(-scaled); }

/// Derivative of the kernel by the logarithm of the length scale.
double maternByLogLength(double scaled) {
    return scaled * scaled / 3.0 * (1.0 + scaled) * std::exp(-scaled);
}

double climbFrom(const GaussianProcess& process, double logLength, std::span<double> gradient) {
    const Likelihood found = process.logMarginalLikelihood(std::exp(logLength));
    gradient[0] = found.gradientByLogLengthScale;
    return found.value;
}

} // namespace

GaussianProcess::GaussianProcess(const GaussianProcessOptions& options)
    : m_options(options) {
    ENGINE_CHECK(options.noise >= 0.0 && options.shortestLength > 0.0 &&
                     options.longestLength >= options.shortestLength && options.restarts >= 0 &&
                     options.newestKept >= 0 && options.maximumPoints > options.newestKept,
                 "noise {}, lengths {} to {}, {} restarts, {} points of which {} are the newest",
                 options.noise,
                 options.shortestLength,
                 options.longestLength,
                 options.restarts,
                 options.maximumPoints,
                 options.newestKept);
    m_lengthScale = std::clamp(1.0, options.shortestLength, options.longestLength);
}

void GaussianProcess::add(std::span<const double> point, double target) {
    ENGINE_CHECK(m_points.empty() || point.size() == m_points.front().size(),
                 "a point of {} coordinates among points of {}",
                 point.size(),
                 m_points.front().size());
    ENGINE_CHECK(std::isfinite(target), "a target of {}", target);
    for (const double coordinate : point)
        ENGINE_CHECK(std::isfinite(coordinate), "a coordinate of {}", coordinate);
    m_distances.push_back(squaredDistances(point));
    m_distances.back().push_back(0.0);
    m_points.emplace_back(point.begin(), point.end());
    m_targets.push_back(target);
    if (size() > m_options.maximumPoints) {
        forgetOne();
        refactor();
    } else if (!appendRow(m_factor, m_lengthScale, m_jitter)) {
        refactor();
    }
    updateWeights();
}

void GaussianProcess::forgetOne() {
    const auto oldEnd = m_targets.end() - m_options.newestKept;
    const auto worst = std::min_element(m_targets.begin(), oldEnd) - m_targets.begin();
    for (auto row = m_distances.begin() + worst + 1; row != m_distances.end(); ++row)
        row->erase(row->begin() + worst);
    m_distances.erase(m_distances.begin() + worst);
    m_points.erase(m_points.begin() + worst);
    m_targets.erase(m_targets.begin() + worst);
}

bool GaussianProcess::appendRow(CholeskyFactor& factor, double lengthScale, double jitter) const {
    std::vector<double> row;
    for (const double distance : m_distances[static_cast<std::size_t>(factor.size())])
        row.push_back(matern(scaledDistance(distance, lengthScale)));
    row.back() += m_options.noise + jitter;
    return factor.append(row);
}

CholeskyFactor GaussianProcess::factorFor(double lengthScale, double& jitter) const {
    for (;;) {
        CholeskyFactor factor;
        while (factor.size() < size() && appendRow(factor, lengthScale, jitter)) {
        }
        if (factor.size() == size())
            return factor;
        jitter = jitter == 0.0 ? kFirstJitter : 10.0 * jitter;
        ENGINE_CHECK(jitter <= kLargestJitter,
                     "no factor of {} points at length scale {} and noise {}",
                     size(),
                     lengthScale,
                     m_options.noise);
    }
}

void GaussianProcess::refactor() {
    m_jitter = 0.0;
    m_factor = factorFor(m_lengthScale, m_jitter);
}

void GaussianProcess::updateWeights() {
    const auto count = static_cast<double>(size());
    m_targetMean = std::accumulate(m_targets.begin(), m_targets.end(), 0.0) / count;
    double squares = 0.0;
    for (const double target : m_targets)
        squares += (target - m_targetMean) * (target - m_targetMean);
    const double deviation = std::sqrt(squares / count);
    // Equal targets differ from their mean by rounding alone.
    const double rounding = 1e-14 * std::abs(m_targetMean);
    m_targetStd = deviation > rounding ? deviation : 1.0;
    m_normalised.clear();
    for (const double target : m_targets)
        m_normalised.push_back((target - m_targetMean) / m_targetStd);
    m_weights = m_normalised;
    m_factor.solveLower(m_weights);
    m_factor.solveUpper(m_weights);
}

std::vector<int> GaussianProcess::best(int count) const {
    std::vector<int> order(m_targets.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](int left, int right) {
        return target(left) > target(right);
    });
    order.resize(std::min(order.size(), static_cast<std::size_t>(count)));
    return order;
}

std::vector<double> GaussianProcess::squaredDistances(std::span<const double> point) const {
    std::vector<double> distances;
    distances.reserve(m_points.size() + 1);
    for (const std::vector<double>& known : m_points)
        distances.push_back(squaredDistance(known, point));
    return distances;
}

Posterior GaussianProcess::posterior(std::span<const double> point) const {
    return posteriorAt(squaredDistances(point));
}

Posterior GaussianProcess::posteriorAt(std::span<const double> squaredDistances) const {
    std::vector<double> kernel; // [size]
    kernel.reserve(squaredDistances.size());
    for (const double distance : squaredDistances)
        kernel.push_back(matern(scaledDistance(distance, m_lengthScale)));
    const double mean = dot(kernel, m_weights);
    m_factor.solveLower(kernel);
    const double variance = std::max(0.0, 1.0 - dot(kernel, kernel));
    return {m_targetMean + m_targetStd * mean, m_targetStd * std::sqrt(variance)};
}

double GaussianProcess::ucb(std::span<const double> point,
                            double kappa,
                            std::span<double> gradient) const {
    std::vector<double> kernel;  // [size]
    std::vector<double> factors; // [size]: d kernel / d point = -factor (point - known point)
    for (const double distance : squaredDistances(point)) {
        const double scaled = scaledDistance(distance, m_lengthScale);
        kernel.push_back(matern(scaled));
        factors.push_back(5.0 / (3.0 * m_lengthScale * m_lengthScale) * (1.0 + scaled) *
                          std::exp(-scaled));
    }
    const double mean = dot(kernel, m_weights);
    m_factor.solveLower(kernel);
    // If the deviation is 0 it has no gradient; the result is then that of the mean.
    const double variance = std::max(0.0, 1.0 - dot(kernel, kernel));
    const double deviation = std::sqrt(variance);
    m_factor.solveUpper(kernel);
    std::fill(gradient.begin(), gradient.end(), 0.0);
    double pull = 0.0;
    for (std::size_t i = 0; i < kernel.size(); ++i) {
        const double ofDeviation = deviation > 0.0 ? kappa * kernel[i] / deviation : 0.0;
        const double slope = m_targetStd * (m_weights[i] - ofDeviation) * factors[i];
        addScaled(gradient, slope, m_points[i]);
        pull += slope;
    }
    addScaled(gradient, -pull, point);
    return m_targetMean + m_targetStd * (mean + kappa * deviation);
}

Likelihood GaussianProcess::logMarginalLikelihood(double lengthScale) const {
    double jitter = 0.0;
    const CholeskyFactor factor = factorFor(lengthScale, jitter);
    std::vector<double> weights = m_normalised;
    factor.solveLower(weights);
    factor.solveUpper(weights);
    const std::vector<double> inverse = factor.inverse();
    Likelihood found;
    found.value = -0.5 * dot(m_normalised, weights) - 0.5 * factor.logDeterminant() -
                  0.5 * static_cast<double>(size()) * std::log(2.0 * std::numbers::pi);
    for (std::size_t i = 0; i < m_distances.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const double change = maternByLogLength(scaledDistance(m_distances[i][j], lengthScale));
            found.gradientByLogLengthScale +=
                (weights[i] * weights[j] - inverse[i * (i + 1) / 2 + j]) * change;
        }
    return found;
}

void GaussianProcess::setLengthScale(double lengthScale) {
    ENGINE_CHECK(
        lengthScale > 0.0 && std::isfinite(lengthScale), "a length scale of {}", lengthScale);
    m_lengthScale = lengthScale;
    if (m_points.empty())
        return;
    refactor();
    updateWeights();
}

Result<void> GaussianProcess::fitLengthScale(std::uint64_t seed, std::stop_token stop) {
    if (m_points.empty())
        return {};
    const BoxClimb climb{.lower = std::log(m_options.shortestLength),
                         .upper = std::log(m_options.longestLength),
                         .firstStep = 1.0,
                         .stop = std::move(stop)};
    std::vector<double> starts = {0.0};
    if (m_lengthScale != 1.0)
        starts.push_back(std::log(m_lengthScale));
    SearchRandom random(seed);
    for (int i = 0; i < m_options.restarts; ++i)
        starts.push_back(climb.lower +
                         (i + random.uniform()) * (climb.upper - climb.lower) / m_options.restarts);
    const BoxFunction likelihood = [this](std::span<const double> at, std::span<double> gradient) {
        return climbFrom(*this, at[0], gradient);
    };
    std::optional<BoxMaximum> best;
    for (const double start : starts) {
        ENGINE_TRY(BoxMaximum found, maximiseInBox(likelihood, {start}, climb));
        if (!best || found.value > best->value)
            best = std::move(found);
    }
    setLengthScale(std::exp(best->point[0]));
    return {};
}

} // namespace engine
