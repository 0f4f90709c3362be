// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace engine {

/// What a pass does at one attention or MLP sublayer. Not a bool: a plan may one day also replace
/// a span of layers by something else, so readers must switch over the values they know.
enum class SublayerAction : std::uint8_t {
    Run,
    Skip, ///< the sublayer and its norm add nothing; the residual stream passes unchanged
};

/// Which weights a pass reads.
enum class WeightSet : std::uint8_t {
    Full,
    Copy, ///< the copy in 4 bits that Transformer::makeCopyPiece() has made, for drafts
};

/// Which attention and MLP sublayers run, with which weights, and after which layer the pass exits.
/// A plain value.
struct LayerPlan {
    std::vector<SublayerAction> attention; ///< one entry a layer
    std::vector<SublayerAction> mlp;       ///< one entry a layer
    /// Layers beyond this 0-based one are left out; final norm and head still run.
    int exitAfterLayer = 0;
    WeightSet weights = WeightSet::Full;

    /// Everything runs.
    static LayerPlan full(int layerCount) {
        const auto count = static_cast<std::size_t>(layerCount);
        return {std::vector(count, SublayerAction::Run),
                std::vector(count, SublayerAction::Run),
                layerCount - 1,
                WeightSet::Full};
    }

    /// Everything runs, with the copy.
    static LayerPlan copy(int layerCount) {
        LayerPlan plan = full(layerCount);
        plan.weights = WeightSet::Copy;
        return plan;
    }

    int layerCount() const { return static_cast<int>(attention.size()); }

    bool runsAttention(int layer) const {
        return attention[static_cast<std::size_t>(layer)] == SublayerAction::Run;
    }

    bool runsMlp(int layer) const {
        return mlp[static_cast<std::size_t>(layer)] == SublayerAction::Run;
    }

    /// Layers that a pass reads, a sublayer counting as half of one.
    double layerLoads() const {
        double loads = 0.0;
        for (int layer = 0; layer <= exitAfterLayer; ++layer)
            loads += (runsAttention(layer) ? 0.5 : 0.0) + (runsMlp(layer) ? 0.5 : 0.0);
        return loads;
    }

    bool operator==(const LayerPlan&) const = default;
};

} // namespace engine
