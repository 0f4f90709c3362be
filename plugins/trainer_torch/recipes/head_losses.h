// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/trainer_torch/model/model_pass.h"

#include <functional>
#include <span>

namespace trainer_torch {

/// Computes a loss of some rows of a pass behind its first `layers` layers, some rows at a time, so
/// that logits of many rows are never in memory together, and adds the gradients of `weight` times
/// the loss to the pass. `loss` is given the logits of rows [first, first + count) of `rows` and
/// returns their sum, a scalar. Returns the sum over all rows, without the weight. Shapes: logits
/// [count, vocab].
double headLoss(
    ModelPass& pass,
    const ModelNetwork& network,
    const TensorMap& trained,
    int layers,
    std::span<const std::int64_t> rows,
    double weight,
    bool hasGradients,
    const std::function<at::Tensor(const at::Tensor& logits, std::size_t first, std::size_t count)>&
        loss);

/// Most probable tokens of these rows behind the first `layers` layers; `forbidden` is none of
/// them. [rows]
std::vector<engine::TokenId> bestTokens(const ModelPass& pass,
                                        const ModelNetwork& network,
                                        const TensorMap& trained,
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
