// SPDX-License-Identifier: Apache-2.0
#include "engine/search/bayesian/acquisition.h"
#include "engine/search/random_search.h"

#include <algorithm>
#include <numeric>

namespace engine {

namespace {

constexpr int kSuggestionsBetweenFits = 4;

/// The coordinates by descending value, equal ones by the names "x0", "x1", "x10", "x11", "x2", ...
std::vector<int> descendingByName(std::span<const double> values) {
    std::vector<int> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [values](int left, int right) {
        const double a = values[static_cast<std::size_t>(left)];
        const double b = values[static_cast<std::size_t>(right)];
        return a != b ? a > b : fmt::to_string(left) < fmt::to_string(right);
    });
    return order;
}

class BayesianSearch : public LayerSearch {
public:
    BayesianSearch(const LayerSearchOptions& options, const BayesianOptions& bayesian)
        : m_options(options)
        , m_bayesian(bayesian)
        , m_random(options.seed) {}

    Result<Trial> nextTrial(std::stop_token stop) override {
        if (m_process.size() == 0)
            return firstTrial();
        if (m_suggestionCount % kSuggestionsBetweenFits == 0)
            ENGINE_TRY_DO(m_process.fitLengthScale(m_random.bits(), stop));
        const Acquisition acquisition{.process = m_process,
                                      .budget = m_options.budget,
                                      .kappa = m_bayesian.kappa,
                                      .isRatioFree = m_bayesian.isRatioFree,
                                      .stop = std::move(stop)};
        const bool isDiscrete = m_bayesian.maximiser == BayesianMaximiser::Discrete;
        ENGINE_TRY(AcquisitionMaximum found,
                   isDiscrete ? maximiseOverSets(acquisition, m_random)
                              : maximiseInTheBox(acquisition, m_random));
        ++m_suggestionCount;
        Trial trial = trialAt(TrialKind::Bayesian, found.point);
        if (m_bayesian.registerContinuousPoint)
            trial.point = std::move(found.point);
        return trial;
    }

    void record(const Trial& trial, double score) override {
        ENGINE_CHECK(std::ssize(trial.point) == m_options.space.dims(),
                     "a trial at a point of {} coordinates in a space of {}",
                     trial.point.size(),
                     m_options.space.dims());
        m_process.add(trial.point, score);
    }

private:
    Trial firstTrial() {
        if (m_bayesian.isRatioFree)
            return trialAt(TrialKind::Random, m_random.uniformPoint(m_options.space.dims()));
        return drawTrial(m_options, m_random);
    }

    Trial trialAt(TrialKind kind, std::span<const double> point) {
        return makeTrial(kind, m_options.space, m_options.space.plan(skipSetAt(point)));
    }

    std::vector<std::uint8_t> skipSetAt(std::span<const double> point) {
        if (m_bayesian.isRatioFree) {
            std::vector<std::uint8_t> bits;
            for (const double coordinate : point)
                bits.push_back(coordinate > 0.5 ? 1 : 0);
            return bits;
        }
        return m_options.budget.select(m_bayesian.tieBreak == TieBreak::Lexicographic
                                           ? descendingByName(point)
                                           : m_random.descending(point));
    }

    LayerSearchOptions m_options;
    BayesianOptions m_bayesian;
    SearchRandom m_random;
    GaussianProcess m_process;
    int m_suggestionCount = 0;
};

} // namespace

std::unique_ptr<LayerSearch> makeBayesianSearch(const LayerSearchOptions& options,
                                                const BayesianOptions& bayesian) {
    checkSearchOptions(options);
    return std::make_unique<BayesianSearch>(options, bayesian);
}

} // namespace engine
