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

/// What is said of the teacher's tokens. [rows, kTeacherTokens]
struct Found {
    at::Tensor logParts;
    at::Tensor parts; ///< 0 where the teacher has no token
};

Found findParts(const at::Tensor& logits, const at::Tensor& rows, const at::Tensor& wanted) {
    Found found;
    found.logParts = at::gather(at::log_softmax(logits, 1), 1, rows);
    found.parts = found.logParts.exp() * wanted.gt(0.0).to(wanted.scalar_type());
    return found;
}

at::Tensor divergenceOf(const Found& found, const at::Tensor& wanted) {
    const at::Tensor wantedRest = (1.0 - wanted.sum(1)).clamp_min(0.0);            // [rows]
    const at::Tensor foundRest = (1.0 - found.parts.sum(1)).clamp_min(kLeastPart); // [rows]
    return (at::xlogy(wanted, wanted) - wanted * found.logParts).sum() +
           (at::xlogy(wantedRest, wantedRest) - wantedRest * foundRest.log()).sum();
}

} // namespace

at::Tensor divergence(const at::Tensor& logits,
                      const at::Tensor& teacherRows,
                      const at::Tensor& teacherParts) {
    return divergenceOf(findParts(logits, teacherRows, teacherParts), teacherParts);
}

DepthLosses depthLosses(const at::Tensor& logits,
                        const at::Tensor& streams,
                        const DepthTensors& rows,
                        double epsilon) {
    const at::Tensor& wanted = rows.teacherParts; // [rows, 10]
    const Found found = findParts(logits, rows.teacherRows, wanted);
    DepthLosses losses;
    losses.likelihood = divergenceOf(found, wanted);
    losses.overlap = -at::minimum(wanted, found.parts).sum(1).clamp_min(kLeastPart).log().sum();
    const at::Tensor scale = rows.streams.mul(rows.streams).mean(1, true).add(epsilon).rsqrt();
    losses.stream = at::smooth_l1_loss(
                        streams * scale, rows.streams * scale, at::Reduction::Sum, kSmoothBelow) /
                    static_cast<double>(streams.size(1));
    return losses;
}

} // namespace trainer_torch
