// SPDX-License-Identifier: Apache-2.0
#include "engine/adaptation/stream_start.h"

#include "engine/search/stream/stream_front.h"

#include <cmath>

namespace engine {

namespace {

/// Worths are rounded costs, so a set of less worth than the budget's may be the largest that fits:
/// it never needs to be smaller than this part.
constexpr double kLeastPart = 0.75;

constexpr double kRoundingSlack = 1e-9;

} // namespace

Result<std::optional<LayerPlan>>
streamPlan(Target& target, const SkipChoices& choices, double ratio) {
    const std::span<const TokenId> cached = target.cachedTokens();
    const KvCache& cache = target.cache();
    if (cached.empty() || cache.length() >= cache.capacity() || choices.space().dims() == 0)
        return std::optional<LayerPlan>();
    const std::vector<double> costs = choices.budget(1.0).costs;
    const auto firstMlp = static_cast<std::size_t>(choices.space().width());
    const SublayerWorths worths = SublayerWorths::fromCosts(costs.front(), costs[firstMlp]);
    const double all =
        streamWorth(target.transformer().config(), StreamItems::Sublayers, worths) * ratio;
    const int most = static_cast<int>(std::floor(all + kRoundingSlack));
    const bool isExact = worths.attention == worths.mlp;
    ENGINE_TRY(const std::vector<StreamPoint> front,
               streamFront(target.transformer(),
                           target.cache(),
                           {.items = StreamItems::Sublayers,
                            .worths = worths,
                            .most = most,
                            .least = isExact ? most : static_cast<int>(most * kLeastPart),
                            .references = cached.last(1),
                            .stop = target.stop()}));
    for (auto point = front.rbegin(); point != front.rend(); ++point)
        if (choices.ratioOf(point->plan) <= ratio + kRoundingSlack)
            return std::optional(point->plan);
    return std::optional<LayerPlan>();
}

} // namespace engine
