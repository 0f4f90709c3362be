// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/trainer_torch/rows/pack_tensors.h"

#include <ATen/core/Tensor.h>

namespace trainer_torch {

/// Kullback-Leibler divergence from the model's distribution to that of `logits`, summed over the
/// rows, in nats. Both are cut into the model's best tokens and one bucket for all other tokens.
/// Shapes: logits [rows, tokens]; teacherRows (columns of the logits) and teacherParts
/// (probabilities) [rows, kTeacherTokens]. A scalar with gradients.
at::Tensor
divergence(const at::Tensor& logits, const at::Tensor& teacherRows, const at::Tensor& teacherParts);

/// Losses of the rows of one depth, each summed over the rows: scalars with gradients.
struct DepthLosses {
    /// See divergence(); of the model's best tokens those count that the head has rows for.
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
