// SPDX-License-Identifier: Apache-2.0
#include "engine/search/random_search.h"

#include <cmath>

namespace engine {

namespace {

class RandomSearch : public LayerSearch {
public:
    explicit RandomSearch(const LayerSearchOptions& options)
        : m_options(options)
        , m_random(options.seed) {}

    Result<Trial> nextTrial(std::stop_token) override { return drawTrial(m_options, m_random); }

    void record(const Trial&, double) override {}

private:
    LayerSearchOptions m_options;
    SearchRandom m_random;
};

} // namespace

void checkSearchOptions(const LayerSearchOptions& options) {
    const auto dims = static_cast<std::size_t>(options.space.dims());
    ENGINE_CHECK(options.budget.costs.size() == dims &&
                     (options.weights.empty() || options.weights.size() == dims),
                 "{} costs and {} weights for {} coordinates",
                 options.budget.costs.size(),
                 options.weights.size(),
                 dims);
    for (const double weight : options.weights)
        ENGINE_CHECK(weight >= 0.0 && std::isfinite(weight), "a weight of {}", weight);
}

Trial drawTrial(const LayerSearchOptions& options, SearchRandom& random) {
    const auto bits = options.budget.select(random.order(options.space.dims(), options.weights));
    return makeTrial(TrialKind::Random, options.space, options.space.plan(bits));
}

std::unique_ptr<LayerSearch> makeRandomSearch(const LayerSearchOptions& options) {
    checkSearchOptions(options);
    return std::make_unique<RandomSearch>(options);
}

} // namespace engine
