// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/trainer_torch/rows/pack_tensors.h"

#include <ATen/core/Tensor.h>

namespace trainer_torch {

/// Losses of the rows of one depth, each summed over the rows: scalars with gradients.
struct DepthLosses {
    /// Kullback-Leibler divergence from the model's distribution to the draft's, in nats. Both are
    /// cut into the model's best tokens, as far as the head has rows for them, and one bucket for
    /// all other tokens.
    at::Tensor likelihood;
    /// -log of the part of the two distributions that overlaps on those tokens: a lower bound of
    /// how probable it is that a drawn draft is accepted. Rows where nothing overlaps have no
    /// gradient.
    at::Tensor overlap;
    /// Smooth L1 distance of the draft's stream from the model's, both divided by the root of the
    /// mean square of the model's, mean over the numbers of a row.
    at::Tensor stream;
};

/// Shapes: logits [rows, headIds], streams [rows, hidden]. `epsilon` is added to mean squares.
DepthLosses depthLosses(const at::Tensor& logits,
                        const at::Tensor& streams,
                        const DepthTensors& rows,
                        double epsilon);

} // namespace trainer_torch
