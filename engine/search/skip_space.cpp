// SPDX-License-Identifier: Apache-2.0
#include "engine/search/skip_space.h"

#include "engine/base/result.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

/// The relative error of products and sums of a few hundred costs is far below this.
constexpr double kRoundingSlack = 1e-9;

void skipEvenly(std::vector<SublayerAction>& sublayers, int firstLayer, int width, int count) {
    for (int i = 0; i < count; ++i) {
        const int layer = firstLayer + i * width / count;
        sublayers[static_cast<std::size_t>(layer)] = SublayerAction::Skip;
    }
}

} // namespace

SkipBudget SkipBudget::unit(int dims, int count) {
    ENGINE_CHECK(dims >= 0 && count >= 0 && count <= dims, "{} of {} coordinates", count, dims);
    return {std::vector(static_cast<std::size_t>(dims), 1.0), static_cast<double>(count)};
}

std::vector<std::uint8_t> SkipBudget::select(std::span<const int> order) const {
    std::vector<std::uint8_t> bits(costs.size(), 0);
    const double limit = total * (1.0 + kRoundingSlack);
    double spent = 0.0;
    for (const int coordinate : order) {
        const auto index = static_cast<std::size_t>(coordinate);
        ENGINE_CHECK(coordinate >= 0 && index < costs.size() && bits[index] == 0,
                     "coordinate {} of {} is outside or comes twice",
                     coordinate,
                     costs.size());
        if (spent + costs[index] > limit)
            continue;
        spent += costs[index];
        bits[index] = 1;
    }
    return bits;
}

SkipSpace SkipSpace::inner(int layerCount) {
    ENGINE_CHECK(layerCount > 0, "a model of {} layers", layerCount);
    return {layerCount, 1, std::max(0, layerCount - 2)};
}

SkipSpace SkipSpace::all(int layerCount) {
    ENGINE_CHECK(layerCount > 0, "a model of {} layers", layerCount);
    return {layerCount, 0, layerCount};
}

LayerPlan SkipSpace::plan(std::span<const std::uint8_t> bits) const {
    ENGINE_CHECK(std::ssize(bits) == dims(), "{} bits for {} coordinates", bits.size(), dims());
    LayerPlan result = LayerPlan::full(m_layerCount);
    for (int i = 0; i < m_width; ++i) {
        const auto layer = static_cast<std::size_t>(m_firstLayer + i);
        if (bits[static_cast<std::size_t>(i)] != 0)
            result.attention[layer] = SublayerAction::Skip;
        if (bits[static_cast<std::size_t>(m_width + i)] != 0)
            result.mlp[layer] = SublayerAction::Skip;
    }
    return result;
}

std::vector<std::uint8_t> SkipSpace::bits(const LayerPlan& plan) const {
    ENGINE_CHECK(plan.layerCount() == m_layerCount,
                 "a plan of {} layers in a space of {}",
                 plan.layerCount(),
                 m_layerCount);
    std::vector<std::uint8_t> result(static_cast<std::size_t>(dims()), 0);
    for (int i = 0; i < m_width; ++i) {
        const int layer = m_firstLayer + i;
        result[static_cast<std::size_t>(i)] = plan.runsAttention(layer) ? 0 : 1;
        result[static_cast<std::size_t>(m_width + i)] = plan.runsMlp(layer) ? 0 : 1;
    }
    return result;
}

int SkipSpace::skippedCount(double ratio) const {
    ENGINE_CHECK(ratio >= 0.0 && ratio <= 1.0, "a skip ratio of {}", ratio);
    return static_cast<int>(std::floor(dims() * ratio + kRoundingSlack));
}

LayerPlan SkipSpace::uniform(double ratio) const {
    const int count = skippedCount(ratio);
    const int attentionCount = (count + 1) / 2;
    LayerPlan result = LayerPlan::full(m_layerCount);
    skipEvenly(result.attention, m_firstLayer, m_width, attentionCount);
    skipEvenly(result.mlp, m_firstLayer, m_width, count - attentionCount);
    return result;
}

LayerPlan SkipSpace::oddLayers() const {
    LayerPlan result = LayerPlan::full(m_layerCount);
    for (int layer = 1; layer < m_layerCount - 1; layer += 2) {
        result.attention[static_cast<std::size_t>(layer)] = SublayerAction::Skip;
        result.mlp[static_cast<std::size_t>(layer)] = SublayerAction::Skip;
    }
    return result;
}

} // namespace engine
