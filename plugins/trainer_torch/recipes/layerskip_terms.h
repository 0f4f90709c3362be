// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainer_torch {

// The closed forms of LayerSkip's training, arXiv 2404.16710, section 4. Layers are counted from 0.
// Differs: of the exits that are on in a step, one is trained; the paper trains all of them.

/// How probable it is that a text goes around this layer, over that of the last layer: 0 for the
/// first one, 1 for the last one, and growing exponentially in between.
double layerDropout(int layer, int layerCount);

/// The weight of the exit behind this layer before weights are made to sum up to 1: `scale` times
/// the sum of 0 .. layer, and for the last layer its own number and `scale` times the sum of the
/// numbers before. So the exit behind the first layer counts nothing.
double exitWeight(int layer, int layerCount, double scale);

/// The exit whose turn it is in a step, between the second layer and the last but one: every
/// `rotation`-th one is on, the pattern moves on by one with each step, and those that are on take
/// turns. -1 for a model of two layers, which has none.
int exitOfStep(std::int64_t step, int layerCount, int rotation);

/// What an exit and the last layer count in a step. They sum up to 1.
struct ExitShares {
    double exit = 0.0;
    double last = 1.0;
};

/// Everything for the last layer where there is no exit (-1).
ExitShares exitShares(int exit, int layerCount, double scale);

} // namespace trainer_torch
