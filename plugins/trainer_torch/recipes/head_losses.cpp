// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/recipes/head_losses.h"

#include "engine/base/to_size.h"
#include "plugins/trainer_torch/draft_losses.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/log_softmax.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace trainer_torch {

using namespace engine;

namespace {

/// Rows whose logits are computed together.
constexpr std::size_t kHeadRows = 256;

} // namespace

double headLoss(ModelPass& pass,
                int layers,
                std::span<const std::int64_t> rows,
                double weight,
                const RowLoss& loss) {
    const c10::AutoGradMode recording(pass.hasGradients());
    at::Tensor stream = pass.streamBehind(layers).detach();
    stream.set_requires_grad(pass.hasGradients());
    double sum = 0.0;
    for (std::size_t first = 0; first < rows.size(); first += kHeadRows) {
        const std::size_t count = std::min(kHeadRows, rows.size() - first);
        const at::Tensor found =
            loss(pass.logits(stream, rows.subspan(first, count)), first, count);
        sum += found.item<double>();
        if (pass.hasGradients())
            (found * weight).backward();
    }
    if (pass.hasGradients() && !rows.empty())
        pass.addGradient(layers, stream.grad());
    return sum;
}

std::vector<TokenId> bestTokens(const ModelPass& pass,
                                int layers,
                                std::span<const std::int64_t> rows,
                                TokenId forbidden) {
    const c10::NoGradGuard plainly;
    std::vector<TokenId> best;
    for (std::size_t first = 0; first < rows.size(); first += kHeadRows) {
        const std::size_t count = std::min(kHeadRows, rows.size() - first);
        const at::Tensor logits =
            pass.logits(pass.streamBehind(layers), rows.subspan(first, count));
        const at::Tensor found = without(logits, forbidden).argmax(1);
        const auto* token = found.const_data_ptr<std::int64_t>();
        for (std::size_t i = 0; i < count; ++i)
            best.push_back(static_cast<TokenId>(*token++));
    }
    return best;
}

at::Tensor crossEntropy(const at::Tensor& logits, std::span<const std::int64_t> targets) {
    const at::Tensor wanted = wholeNumbers(targets).unsqueeze(1);
    return -at::gather(at::log_softmax(logits, 1), 1, wanted).sum();
}

TeacherTensors
teacherOf(const TrainingText& text, std::span<const std::int64_t> rows, at::ScalarType type) {
    const auto count = static_cast<std::int64_t>(rows.size());
    TeacherTensors made{at::empty({count, kTeacherTokens}, at::kLong),
                        at::empty({count, kTeacherTokens}, at::kDouble)};
    auto* id = made.rows.mutable_data_ptr<std::int64_t>();
    auto* part = made.parts.mutable_data_ptr<double>();
    for (const std::int64_t row : rows) {
        const TeacherRow& teacher = text.teacher[toSize(row)];
        for (std::size_t i = 0; i < teacher.ids.size(); ++i) {
            *id++ = teacher.ids[i];
            *part++ = teacherPart(teacher.logProbabilities[i]);
        }
    }
    made.parts = made.parts.to(type);
    return made;
}

at::Tensor teacherDivergence(const at::Tensor& logits,
                             const TeacherTensors& teacher,
                             std::size_t first,
                             std::size_t count) {
    const auto begin = static_cast<std::int64_t>(first);
    const auto rows = static_cast<std::int64_t>(count);
    return divergence(
        logits, teacher.rows.narrow(0, begin, rows), teacher.parts.narrow(0, begin, rows));
}

at::Tensor without(const at::Tensor& logits, TokenId token) {
    if (token == kNoToken)
        return logits;
    constexpr double kNever = -1e9; // finite, so that nothing times it is nothing
    const std::int64_t column = token;
    return logits.index_fill(1, wholeNumbers(std::span(&column, 1)), kNever);
}

} // namespace trainer_torch
