// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/trainer_torch/model/model_pass.h"

#include <functional>
#include <span>

namespace trainer_torch {

/// Given the logits of `count` rows from the `first` on, returns the sum of their losses, a scalar.
/// Shapes: logits [count, vocab].
using RowLoss =
    std::function<at::Tensor(const at::Tensor& logits, std::size_t first, std::size_t count)>;

/// Computes a loss of some rows of a pass behind its first `layers` layers, some rows at a time, so
/// that logits of many rows are never in memory together; of a pass with gradients, adds those of
/// `weight` times the loss to it. Returns the sum over all rows, without the weight.
double headLoss(ModelPass& pass,
                int layers,
                std::span<const std::int64_t> rows,
                double weight,
                const RowLoss& loss);

/// Most probable tokens of these rows behind the first `layers` layers; `forbidden` is none of
/// them. [rows]
std::vector<engine::TokenId> bestTokens(const ModelPass& pass,
                                        int layers,
                                        std::span<const std::int64_t> rows,
                                        engine::TokenId forbidden);

/// Cross-entropy summed over rows, in nats. Shapes: logits [rows, vocab], targets [rows]. A scalar.
at::Tensor crossEntropy(const at::Tensor& logits, std::span<const std::int64_t> targets);

/// The untouched model's distributions behind some rows of a text.
struct TeacherTensors {
    at::Tensor rows;  ///< [rows, kTeacherTokens] int64
    at::Tensor parts; ///< likewise
};

/// Of rows of which the teacher is known.
TeacherTensors teacherOf(const engine::TrainingText& text,
                         std::span<const std::int64_t> rows,
                         at::ScalarType type);

/// See divergence(), for rows [first, first + count) of the teacher. A scalar.
at::Tensor teacherDivergence(const at::Tensor& logits,
                             const TeacherTensors& teacher,
                             std::size_t first,
                             std::size_t count);

/// The logits with none for this token; themselves for kNoToken.
at::Tensor without(const at::Tensor& logits, engine::TokenId token);

} // namespace trainer_torch
