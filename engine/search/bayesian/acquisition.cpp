// SPDX-License-Identifier: Apache-2.0
#include "engine/search/bayesian/acquisition.h"

#include "engine/search/numerics/box_maximiser.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace engine {

namespace {

constexpr int kUniformPoints = 2000;
constexpr int kUniformStarts = 10;
constexpr int kRandomSets = 200;
constexpr int kKnownStarts = 4;
constexpr int kRandomStarts = 8;
constexpr int kPointsBetweenPolls = 16;
constexpr int kLeadingMoves = 6; // per side: the 36 swaps or 12 flips with the best gradient
constexpr int kRandomMoves = 12;
constexpr int kMostMoves = 200;

double valueOf(const Acquisition& acquisition, const Posterior& posterior) {
    return posterior.mean + acquisition.kappa * posterior.std;
}

/// The best `count` of `drawn` points that `draw` makes, best first.
template <typename Draw>
Result<std::vector<AcquisitionMaximum>>
bestDrawn(const Acquisition& acquisition, int drawn, std::size_t count, Draw draw) {
    std::vector<AcquisitionMaximum> best;
    for (int i = 0; i < drawn; ++i) {
        if (i % kPointsBetweenPolls == 0 && acquisition.stop.stop_requested())
            return searchCancelled();
        std::vector<double> point = draw();
        const double value = valueOf(acquisition, acquisition.process.posterior(point));
        if (best.size() == count && value <= best.back().value)
            continue;
        const auto after = [value](const AcquisitionMaximum& other) { return other.value < value; };
        best.insert(std::find_if(best.begin(), best.end(), after), {std::move(point), value});
        if (best.size() > count)
            best.pop_back();
    }
    return best;
}

/// A climbing set with its squared distances to the known points. A changed coordinate changes them
/// by a known amount, which makes the value of a neighbour cheap.
class SetClimber {
public:
    SetClimber(const Acquisition& acquisition, std::vector<double> point)
        : m_acquisition(acquisition)
        , m_point(std::move(point))
        , m_gradient(m_point.size())
        , m_distances(acquisition.process.squaredDistances(m_point)) {
        m_value = acquisition.process.ucb(m_point, acquisition.kappa, m_gradient);
        for (std::size_t i = 0; i < m_point.size(); ++i)
            m_spent += m_point[i] != 0.0 ? acquisition.budget.costs[i] : 0.0;
    }

    AcquisitionMaximum maximum() const { return {m_point, m_value}; }

    /// Makes the best of the tried moves; false if none is better than staying.
    bool climb(SearchRandom& random) {
        Move best;
        double bestValue = m_value + 1e-12;
        for (const Move& move : movesToTry(random)) {
            const double value = valueAfter(move);
            if (value > bestValue) {
                bestValue = value;
                best = move;
            }
        }
        if (best.empty())
            return false;
        for (const int coordinate : best)
            flip(coordinate);
        m_value = m_acquisition.process.ucb(m_point, m_acquisition.kappa, m_gradient);
        return true;
    }

private:
    using Move = std::vector<int>; // coordinates that change sides

    bool isSkipped(int coordinate) const {
        return m_point[static_cast<std::size_t>(coordinate)] != 0.0;
    }

    /// The change of the squared distance to a known point when a coordinate changes sides.
    double distanceChange(int coordinate, int known) const {
        const double there =
            m_acquisition.process.point(known)[static_cast<std::size_t>(coordinate)];
        return isSkipped(coordinate) ? 2.0 * there - 1.0 : 1.0 - 2.0 * there;
    }

    double valueAfter(const Move& move) const {
        std::vector<double> distances = m_distances;
        for (std::size_t i = 0; i < distances.size(); ++i) {
            for (const int coordinate : move)
                distances[i] += distanceChange(coordinate, static_cast<int>(i));
            distances[i] = std::max(0.0, distances[i]);
        }
        return valueOf(m_acquisition, m_acquisition.process.posteriorAt(distances));
    }

    void flip(int coordinate) {
        for (std::size_t i = 0; i < m_distances.size(); ++i)
            m_distances[i] =
                std::max(0.0, m_distances[i] + distanceChange(coordinate, static_cast<int>(i)));
        const auto index = static_cast<std::size_t>(coordinate);
        m_spent += (isSkipped(coordinate) ? -1.0 : 1.0) * m_acquisition.budget.costs[index];
        m_point[index] = 1.0 - m_point[index];
    }

    /// Whether the budget allows a swap.
    bool fits(int out, int in) const {
        const auto& budget = m_acquisition.budget;
        const double spent = m_spent - budget.costs[static_cast<std::size_t>(out)] +
                             budget.costs[static_cast<std::size_t>(in)];
        return spent <= budget.total * (1.0 + 1e-9);
    }

    std::vector<Move> movesToTry(SearchRandom& random) const {
        std::vector<double> gains(m_point.size()); // gain of each flip according to the gradient
        for (std::size_t i = 0; i < gains.size(); ++i)
            gains[i] = m_point[i] != 0.0 ? -m_gradient[i] : m_gradient[i];
        const std::vector<int> leading = random.descending(gains);
        const std::vector<int> shuffled = random.order(static_cast<int>(gains.size()));
        return m_acquisition.isRatioFree ? flips(leading, shuffled) : swaps(leading, shuffled);
    }

    static std::vector<Move> flips(std::span<const int> leading, std::span<const int> shuffled) {
        std::vector<Move> moves;
        for (const int coordinate :
             leading.first(std::min<std::size_t>(leading.size(), std::size_t{2} * kLeadingMoves)))
            moves.push_back({coordinate});
        for (const int coordinate :
             shuffled.first(std::min<std::size_t>(shuffled.size(), kRandomMoves)))
            moves.push_back({coordinate});
        return moves;
    }

    std::vector<Move> swaps(std::span<const int> leading, std::span<const int> shuffled) const {
        std::vector<Move> moves;
        addSwaps(leading, kLeadingMoves, moves);
        std::vector<Move> others;
        addSwaps(shuffled, kLeadingMoves, others);
        if (others.size() > kRandomMoves)
            others.resize(kRandomMoves);
        moves.insert(moves.end(), others.begin(), others.end());
        return moves;
    }

    /// All affordable swaps among the first `count` of each side in `order`.
    void addSwaps(std::span<const int> order, std::size_t count, std::vector<Move>& moves) const {
        std::vector<int> outs;
        std::vector<int> ins;
        for (const int coordinate : order) {
            std::vector<int>& side = isSkipped(coordinate) ? outs : ins;
            if (side.size() < count)
                side.push_back(coordinate);
        }
        for (const int out : outs)
            for (const int in : ins)
                if (fits(out, in))
                    moves.push_back({out, in});
    }

    const Acquisition& m_acquisition;
    std::vector<double> m_point;     // [dims] of 0 and 1
    std::vector<double> m_gradient;  // [dims]
    std::vector<double> m_distances; // [known points]
    double m_value = 0.0;
    double m_spent = 0.0;
};

/// The set nearest to a point: its highest coordinates, as many as the budget allows.
std::vector<double>
nearestSet(const Acquisition& acquisition, std::span<const double> point, SearchRandom& random) {
    std::vector<double> set;
    if (acquisition.isRatioFree) {
        for (const double coordinate : point)
            set.push_back(coordinate > 0.5 ? 1.0 : 0.0);
        return set;
    }
    const std::vector<std::uint8_t> bits = acquisition.budget.select(random.descending(point));
    return {bits.begin(), bits.end()};
}

} // namespace

Result<AcquisitionMaximum> maximiseInTheBox(const Acquisition& acquisition, SearchRandom& random) {
    const GaussianProcess& process = acquisition.process;
    const int bestKnown = process.best(1).front();
    const int dims = static_cast<int>(process.point(bestKnown).size());
    const auto draw = [&random, dims] { return random.uniformPoint(dims); };
    ENGINE_TRY(std::vector<AcquisitionMaximum> drawn,
               bestDrawn(acquisition, kUniformPoints, 1, draw));
    AcquisitionMaximum best = std::move(drawn.front());
    std::vector<std::vector<double>> starts = {best.point};
    starts.emplace_back(process.point(bestKnown).begin(), process.point(bestKnown).end());
    for (int i = 0; i < kUniformStarts; ++i)
        starts.push_back(random.uniformPoint(dims));
    const BoxFunction bound = [&](std::span<const double> point, std::span<double> gradient) {
        return process.ucb(point, acquisition.kappa, gradient);
    };
    const BoxClimb climb{.stop = acquisition.stop};
    for (std::vector<double>& start : starts) {
        ENGINE_TRY(BoxMaximum found, maximiseInBox(bound, std::move(start), climb));
        if (found.value > best.value)
            best = {std::move(found.point), found.value};
    }
    return best;
}

Result<AcquisitionMaximum> maximiseOverSets(const Acquisition& acquisition, SearchRandom& random) {
    const GaussianProcess& process = acquisition.process;
    const int dims = static_cast<int>(process.point(0).size());
    const auto draw = [&] { return nearestSet(acquisition, random.uniformPoint(dims), random); };
    ENGINE_TRY(std::vector<AcquisitionMaximum> starts,
               bestDrawn(acquisition, kRandomSets, kRandomStarts, draw));
    for (const int known : process.best(kKnownStarts))
        starts.push_back({nearestSet(acquisition, process.point(known), random), 0.0});
    AcquisitionMaximum best;
    best.value = -std::numeric_limits<double>::infinity();
    for (AcquisitionMaximum& start : starts) {
        SetClimber climber(acquisition, std::move(start.point));
        int moves = 0;
        do {
            if (acquisition.stop.stop_requested())
                return searchCancelled();
        } while (climber.climb(random) && ++moves < kMostMoves);
        if (climber.maximum().value > best.value)
            best = climber.maximum();
    }
    return best;
}

} // namespace engine
