// SPDX-License-Identifier: Apache-2.0
#include "engine/search/numerics/box_maximiser.h"

#include "engine/search/numerics/vector_math.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace engine {

namespace {

constexpr std::size_t kRememberedSteps = 8;
constexpr int kLineSearchSteps = 20;
constexpr double kEnoughOfTheSlope = 1e-4; // Armijo's condition
constexpr double kFlatGradient = 1e-8;
constexpr double kSmallestGain = 1e-12;

/// A step taken and how much the gradient fell along it.
struct CurvaturePair {
    std::vector<double> step;
    std::vector<double> fall;
    double product = 0.0; // step . fall, above 0
};

class Ascent {
public:
    Ascent(const BoxFunction& function, std::vector<double> start, const BoxClimb& climb)
        : m_function(function)
        , m_climb(climb)
        , m_point(std::move(start))
        , m_gradient(m_point.size()) {
        for (double& coordinate : m_point)
            coordinate = std::clamp(coordinate, m_climb.lower, m_climb.upper);
        m_value = m_function(m_point, m_gradient);
    }

    BoxMaximum maximum() const { return {m_point, m_value}; }

    /// One iteration; false if nothing can be gained or a stop is requested.
    bool climb() {
        const std::vector<double> uphill = freeGradient();
        double steepest = 0.0;
        for (const double slope : uphill)
            steepest = std::max(steepest, std::abs(slope));
        if (!(steepest > kFlatGradient))
            return false;
        if (!m_pairs.empty()) {
            const std::vector<double> direction = curvedDirection(uphill);
            if (dot(direction, uphill) > 0.0 && search(direction))
                return m_lastGain > kSmallestGain * std::max(1.0, std::abs(m_value));
            m_pairs.clear();
        }
        std::vector<double> direction = uphill;
        for (double& change : direction)
            change *= m_climb.firstStep / steepest;
        return search(direction) && m_lastGain > kSmallestGain * std::max(1.0, std::abs(m_value));
    }

private:
    /// The gradient without the coordinates that are held by a bound.
    std::vector<double> freeGradient() const {
        std::vector<double> uphill = m_gradient;
        for (std::size_t i = 0; i < uphill.size(); ++i)
            if ((uphill[i] < 0.0 && m_point[i] <= m_climb.lower) ||
                (uphill[i] > 0.0 && m_point[i] >= m_climb.upper))
                uphill[i] = 0.0;
        return uphill;
    }

    /// The inverse of the remembered curvature times the gradient, in the free coordinates.
    std::vector<double> curvedDirection(const std::vector<double>& uphill) const {
        std::vector<double> direction = uphill;
        std::vector<double> parts;
        for (auto pair = m_pairs.rbegin(); pair != m_pairs.rend(); ++pair) {
            parts.push_back(dot(pair->step, direction) / pair->product);
            addScaled(direction, -parts.back(), pair->fall);
        }
        const CurvaturePair& newest = m_pairs.back();
        for (double& change : direction)
            change *= newest.product / dot(newest.fall, newest.fall);
        for (const CurvaturePair& pair : m_pairs) {
            const double back = dot(pair.fall, direction) / pair.product;
            addScaled(direction, parts.back() - back, pair.step);
            parts.pop_back();
        }
        for (std::size_t i = 0; i < direction.size(); ++i)
            if (uphill[i] == 0.0)
                direction[i] = 0.0;
        return direction;
    }

    /// Shortens the step until its gain agrees with the slope; false if no step does.
    bool search(const std::vector<double>& direction) {
        double length = 1.0;
        std::vector<double> step(m_point.size());
        std::vector<double> point(m_point.size());
        std::vector<double> gradient(m_point.size());
        for (int attempt = 0; attempt < kLineSearchSteps; ++attempt) {
            if (m_climb.stop.stop_requested())
                return false;
            for (std::size_t i = 0; i < point.size(); ++i) {
                point[i] =
                    std::clamp(m_point[i] + length * direction[i], m_climb.lower, m_climb.upper);
                step[i] = point[i] - m_point[i];
            }
            const double promised = dot(m_gradient, step);
            const double value = m_function(point, gradient);
            const double gain = value - m_value;
            if (gain >= kEnoughOfTheSlope * promised && gain >= 0.0) {
                accept(std::move(step), std::move(point), std::move(gradient), value);
                return true;
            }
            // The maximum of the parabola through the known values, kept within bounds.
            const double top = promised / (2.0 * (promised - gain));
            length *= std::isfinite(top) ? std::clamp(top, 0.1, 0.5) : 0.1;
        }
        return false;
    }

    void accept(std::vector<double> step,
                std::vector<double> point,
                std::vector<double> gradient,
                double value) {
        CurvaturePair pair{std::move(step), m_gradient, 0.0};
        addScaled(pair.fall, -1.0, gradient);
        pair.product = dot(pair.step, pair.fall);
        const double sizes = dot(pair.step, pair.step) * dot(pair.fall, pair.fall);
        if (pair.product > 1e-10 * std::sqrt(sizes))
            m_pairs.push_back(std::move(pair));
        if (m_pairs.size() > kRememberedSteps)
            m_pairs.pop_front();
        m_lastGain = value - m_value;
        m_point = std::move(point);
        m_gradient = std::move(gradient);
        m_value = value;
    }

    const BoxFunction& m_function;
    const BoxClimb& m_climb;
    std::vector<double> m_point;
    std::vector<double> m_gradient;
    double m_value = 0.0;
    double m_lastGain = 0.0;
    std::deque<CurvaturePair> m_pairs; // oldest first
};

} // namespace

Result<BoxMaximum>
maximiseInBox(const BoxFunction& function, std::vector<double> start, const BoxClimb& climb) {
    Ascent ascent(function, std::move(start), climb);
    for (int iteration = 0; iteration < climb.iterations && ascent.climb(); ++iteration) {
    }
    if (climb.stop.stop_requested())
        return searchCancelled();
    return ascent.maximum();
}

Error searchCancelled() {
    return Error{ErrorCode::Cancelled, "The search for a skip set was cancelled.", ""};
}

} // namespace engine
