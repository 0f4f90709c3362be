// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/recipes/layerskip_terms.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trainer_torch {

namespace {

double sumUpTo(int last) { return 0.5 * last * (last + 1); }

} // namespace

double layerDropout(int layer, int layerCount) {
    if (layerCount < 2)
        return 0.0;
    return std::exp(layer * std::numbers::ln2 / (layerCount - 1)) - 1.0;
}

double exitWeight(int layer, int layerCount, double scale) {
    if (layer < layerCount - 1)
        return scale * sumUpTo(layer);
    return (layerCount - 1) + scale * sumUpTo(layerCount - 2);
}

int exitOfStep(std::int64_t step, int layerCount, int rotation) {
    constexpr int kFirst = 1; // the exit behind the first layer counts nothing
    const int exits = layerCount - 1 - kFirst;
    if (exits <= 0)
        return -1;
    const int period = std::min(rotation, exits);
    const auto first = static_cast<int>(step % period);
    const int on = (exits - first + period - 1) / period;
    const auto turn = static_cast<int>(step / period % on);
    return kFirst + first + turn * period;
}

ExitShares exitShares(int exit, int layerCount, double scale) {
    if (exit < 0)
        return {};
    const double own = exitWeight(exit, layerCount, scale);
    const double last = exitWeight(layerCount - 1, layerCount, scale);
    return {own / (own + last), last / (own + last)};
}

} // namespace trainer_torch
