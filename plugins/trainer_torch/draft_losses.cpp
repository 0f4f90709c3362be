// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/draft_losses.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/smooth_l1_loss.h>
#include <ATen/ops/xlogy.h>

namespace trainer_torch {

namespace {

/// Probabilities below this count as this where their logarithm is taken.
constexpr double kLeastPart = 1e-6;

constexpr double kSmoothBelow = 1.0; // of the L1 distance

} // namespace

DepthLosses depthLosses(const at::Tensor& logits,
                        const at::Tensor& streams,
                        const DepthTensors& rows,
                        double epsilon) {
    const at::Tensor& wanted = rows.teacherParts; // [rows, 10]
    const at::Tensor logFound =                   // [rows, 10]
        at::gather(at::log_softmax(logits, 1), 1, rows.teacherRows);
    const at::Tensor found = logFound.exp() * wanted.gt(0.0).to(wanted.scalar_type());
    const at::Tensor wantedRest = (1.0 - wanted.sum(1)).clamp_min(0.0);      // [rows]
    const at::Tensor foundRest = (1.0 - found.sum(1)).clamp_min(kLeastPart); // [rows]
    DepthLosses losses;
    losses.likelihood = (at::xlogy(wanted, wanted) - wanted * logFound).sum() +
                        (at::xlogy(wantedRest, wantedRest) - wantedRest * foundRest.log()).sum();
    losses.overlap = -at::minimum(wanted, found).sum(1).clamp_min(kLeastPart).log().sum();
    const at::Tensor scale = rows.streams.mul(rows.streams).mean(1, true).add(epsilon).rsqrt();
    losses.stream = at::smooth_l1_loss(
                        streams * scale, rows.streams * scale, at::Reduction::Sum, kSmoothBelow) /
                    static_cast<double>(streams.size(1));
    return losses;
}

} // namespace trainer_torch
