// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_config.h"
#include "engine/model/transformer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

/// The plain backend's loops. Every sum runs in one fixed order that depends on its own length
/// alone: 16 lanes, each over every 16th term, then a fixed tree over the lanes. The compiler may
/// put lanes into vector registers but may not reorder within one (no -ffast-math, no contraction).
namespace engine::plain {

inline constexpr std::size_t kLanes = 16;

/// Sum of a[i] * b[i]; both spans have the same length.
template <typename Real> Real dot(const Real* a, const Real* b, std::size_t count) {
    std::array<Real, kLanes> lanes{};
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            lanes[lane] += a[i + lane] * b[i + lane];
    for (std::size_t lane = 0; i < count; ++i, ++lane)
        lanes[lane] += a[i] * b[i];
    for (std::size_t width = kLanes / 2; width > 0; width /= 2)
        for (std::size_t lane = 0; lane < width; ++lane)
            lanes[lane] += lanes[lane + width];
    return lanes[0];
}

/// out [rows, outputs] = in [rows, inputs] times weight [outputs, inputs] transposed, plus bias.
/// Rows are taken in blocks so that a weight row is read once for the block; sums do not notice.
template <typename Real>
void multiply(std::span<const Real> weight,
              std::span<const Real> bias,
              std::span<const Real> in,
              std::size_t inputs,
              std::span<Real> out) {
    constexpr std::size_t kRowBlock = 32;
    const std::size_t outputs = weight.size() / inputs;
    const std::size_t rows = in.size() / inputs;
    for (std::size_t begin = 0; begin < rows; begin += kRowBlock) {
        const std::size_t end = std::min(rows, begin + kRowBlock);
        for (std::size_t output = 0; output < outputs; ++output) {
            const Real* weightRow = weight.data() + output * inputs;
            const Real offset = bias.empty() ? Real(0) : bias[output];
            for (std::size_t row = begin; row < end; ++row)
                out[row * outputs + output] =
                    dot(in.data() + row * inputs, weightRow, inputs) + offset;
        }
    }
}

/// out = in / rms(in) * weight, for one row. Source: arXiv 1910.07467.
template <typename Real>
void rmsNorm(std::span<const Real> in, std::span<const Real> weight, double epsilon, Real* out) {
    const Real mean = dot(in.data(), in.data(), in.size()) / static_cast<Real>(in.size());
    const Real scale = Real(1) / std::sqrt(mean + static_cast<Real>(epsilon));
    for (std::size_t i = 0; i < in.size(); ++i)
        out[i] = in[i] * scale * weight[i];
}

/// x / (1 + exp(-x)).
template <typename Real> Real silu(Real x) { return x / (Real(1) + std::exp(-x)); }

/// GELU by its formula with tanh. Source: arXiv 1606.08415.
template <typename Real> Real geluTanh(Real x) {
    const Real turned = std::sqrt(Real(2) / std::numbers::pi_v<Real>) *
                        (x + static_cast<Real>(0.044715) * x * x * x);
    return x / Real(2) * (Real(1) + std::tanh(turned));
}

/// cap * tanh(x / cap).
template <typename Real> Real softCap(Real x, Real cap) { return cap * std::tanh(x / cap); }

/// Turns the pairs (i, i + dim / 2) of one head by the angles whose cosines and sines are given.
/// Shapes: head [dim], cosines and sines [dim / 2]. Source: arXiv 2104.09864, half-split layout.
template <typename Real>
void rotate(Real* head, std::span<const Real> cosines, std::span<const Real> sines) {
    const std::size_t half = cosines.size();
    for (std::size_t i = 0; i < half; ++i) {
        const Real first = head[i];
        const Real second = head[i + half];
        head[i] = first * cosines[i] - second * sines[i];
        head[i + half] = second * cosines[i] + first * sines[i];
    }
}

/// |f(x)| / |x| for one row; 0 when the stream is 0. Shapes: both [hidden].
template <typename Real> double influenceOf(std::span<const Real> added, std::span<const Real> in) {
    const Real before = dot(in.data(), in.data(), in.size());
    const Real change = dot(added.data(), added.data(), added.size());
    return before > Real(0) ? std::sqrt(static_cast<double>(change / before)) : 0.0;
}

template <typename Real> bool allFinite(std::span<const Real> values) {
    for (const Real value : values)
        if (!std::isfinite(value))
            return false;
    return true;
}

/// Sets the logits of all other tokens to -infinity; no spans = there are no others. Shapes: logits
/// [rows, vocab].
template <typename Real>
void leaveTokensOut(std::span<Real> logits, std::size_t vocab, std::span<const TokenSpan> spans) {
    if (spans.empty())
        return;
    std::vector<bool> isKept(vocab);
    for (const TokenSpan& span : spans)
        std::fill(isKept.begin() + span.first, isKept.begin() + span.end, true);
    for (std::size_t i = 0; i < logits.size(); ++i)
        if (!isKept[i % vocab])
            logits[i] = -std::numeric_limits<Real>::infinity();
}

/// What a gated MLP makes of its two halves. Shapes: gate, up, returned [n].
template <typename Real>
std::vector<Real>
activate(Activation activation, std::span<const Real> gate, std::span<const Real> up) {
    std::vector<Real> inner(gate.size());
    for (std::size_t i = 0; i < gate.size(); ++i)
        inner[i] = (activation == Activation::Silu ? silu(gate[i]) : geluTanh(gate[i])) * up[i];
    return inner;
}

} // namespace engine::plain
