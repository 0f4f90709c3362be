// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/skip_sets/layer_plan.h"

#include <cstdint>
#include <span>
#include <vector>

namespace engine {

/// The skip budget: each coordinate of a space has a cost (its bytes, or 1), and a candidate spends
/// at most `total`. A plain value.
struct SkipBudget {
    std::vector<double> costs; ///< [dims], each above 0
    double total = 0.0;

    /// Every coordinate costs 1: exactly `count` of `dims` are skipped.
    static SkipBudget unit(int dims, int count);

    /// Takes coordinates in `order` and skips those that no longer fit. With costs of 1 and all
    /// coordinates in `order` exactly `total` are taken. Shapes: order, a sequence of different
    /// coordinates; the answer [dims], 1 = skip.
    std::vector<std::uint8_t> select(std::span<const int> order) const;
};

/// The sublayers that may be skipped, and the conversion of a search point into a plan.
///
/// The coordinates are the attention sublayers of the searchable layers in order, then their MLPs.
/// A plain value. Source: swift, `inner` is the space of arXiv 2410.06916, `all` of 2309.08168.
class SkipSpace {
public:
    /// Both sublayers of the layers 1 to layerCount - 2; the first and last layer always run.
    static SkipSpace inner(int layerCount);

    /// Both sublayers of every layer.
    static SkipSpace all(int layerCount);

    int layerCount() const { return m_layerCount; }

    int firstLayer() const { return m_firstLayer; }

    /// Layers whose sublayers may be skipped.
    int width() const { return m_width; }

    /// Number of coordinates.
    int dims() const { return 2 * m_width; }

    /// The plan that skips the coordinates whose bit is not 0. Shapes: bits [dims].
    LayerPlan plan(std::span<const std::uint8_t> bits) const;

    /// The coordinates that a plan skips; sublayers outside this space have no coordinate. Shapes:
    /// [dims], 1 = skip.
    std::vector<std::uint8_t> bits(const LayerPlan& plan) const;

    /// Coordinates to skip at a ratio in [0, 1]: the integer part of dims * ratio, without the
    /// rounding error that would lose one if the product is an integer.
    int skippedCount(double ratio) const;

    /// Skips at even distances, half of the skippedCount(ratio) in each kind of sublayer (attention
    /// has the odd one). Differs from the published code, whose start set ignores the ratio.
    LayerPlan uniform(double ratio) const;

    /// Skips the layers 1, 3, 5, ... up to layerCount - 2: the published code's start set.
    LayerPlan oddLayers() const;

private:
    SkipSpace(int layerCount, int firstLayer, int width)
        : m_layerCount(layerCount)
        , m_firstLayer(firstLayer)
        , m_width(width) {}

    int m_layerCount;
    int m_firstLayer;
    int m_width;
};

} // namespace engine
