// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/to_size.h"
#include "engine/model/plain/plain_math.h"
#include "engine/model/plain/plain_weights.h"

#include <span>
#include <vector>

namespace engine::plain {

/// What enters the first layer of a network that drafts: both halves of a row, the stream of the
/// model that it drafts for and that one's embedding of the token, have norms of their own, and one
/// linear layer makes the stream of them. Shapes: returns [rows, hidden].
template <typename Real>
std::vector<Real> draftInput(const Weights<Real>& weights,
                             const Linear<Real>& embedding,
                             const ForwardRequest& request,
                             double epsilon) {
    const std::size_t width = embedding.inputs;
    std::vector<Real> joined(2 * request.streams.size()); // [rows, 2 * hidden]
    for (std::size_t row = 0; row < request.tokens.size(); ++row) {
        const auto stream = request.streams.subspan(row * width, width);
        std::vector<Real> half(width);
        for (std::size_t i = 0; i < width; ++i)
            half[i] = static_cast<Real>(stream[i]);
        Real* const out = joined.data() + 2 * row * width;
        rmsNorm<Real>(half, weights.streamNorm, epsilon, out);
        const Real* token = embedding.weight.data() + toSize(request.tokens[row]) * width;
        rmsNorm<Real>(std::span(token, width), weights.tokenNorm, epsilon, out + width);
    }
    std::vector<Real> made(request.streams.size());
    multiply<Real>(weights.draftInput.weight, {}, joined, 2 * width, made);
    return made;
}

/// One row of a layer as float32. Shapes: out [inputs].
template <typename Real>
void copyRow(const Linear<Real>& linear, TokenId row, std::span<float> out) {
    const std::size_t first = toSize(row) * linear.inputs;
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<float>(linear.weight[first + i]);
}

} // namespace engine::plain
