// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/BFloat16.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <type_traits>

/// The element-wise work of one row. LibTorch's own operations compute the end of a tensor, or of
/// a thread's share, with other instructions than its middle (another exp, for one), so a value
/// would depend on how many rows run with it. These loops do not.
namespace backend_torch {

/// float64 for float64, otherwise float32.
template <typename Stored>
using MathOf = std::conditional_t<std::is_same_v<Stored, double>, double, float>;

/// out = in / rms(in) * weight; out may be in. Source: arXiv 1910.07467.
template <typename Stored>
void normaliseRow(const Stored* in,
                  const MathOf<Stored>* weight,
                  double epsilon,
                  std::size_t width,
                  Stored* out) {
    using Math = MathOf<Stored>;
    constexpr std::size_t kLanes = 8;
    std::array<double, kLanes> lanes{};
    std::size_t i = 0;
    for (; i + kLanes <= width; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const auto value = static_cast<double>(static_cast<Math>(in[i + lane]));
            lanes[lane] += value * value;
        }
    double squares = 0;
    for (; i < width; ++i)
        squares += static_cast<double>(static_cast<Math>(in[i])) * static_cast<Math>(in[i]);
    for (const double lane : lanes)
        squares += lane;
    const auto scale =
        static_cast<Math>(1.0 / std::sqrt(squares / static_cast<double>(width) + epsilon));
    for (i = 0; i < width; ++i)
        out[i] = static_cast<Stored>(static_cast<Math>(in[i]) * scale * weight[i]);
}

/// Turns the pairs (i, i + half) of one head by the given angles and scales the outcome; behind the
/// pairs it only scales. Shapes: in, out [dim]; cosines, sines [half]. Source: arXiv 2104.09864,
/// half-split layout.
template <typename In, typename Math, typename Out>
void rotateHead(const In* in,
                const Math* cosines,
                const Math* sines,
                std::size_t half,
                std::size_t dim,
                Math scale,
                Out* out) {
    for (std::size_t i = 0; i < half; ++i) {
        const Math first = static_cast<Math>(in[i]);
        const Math second = static_cast<Math>(in[i + half]);
        out[i] = static_cast<Out>((first * cosines[i] - second * sines[i]) * scale);
        out[i + half] = static_cast<Out>((second * cosines[i] + first * sines[i]) * scale);
    }
    for (std::size_t i = 2 * half; i < dim; ++i)
        out[i] = static_cast<Out>(static_cast<Math>(in[i]) * scale);
}

/// out = silu(gate) * up, where silu(x) = x / (1 + exp(-x)). Shapes: all [width].
template <typename Stored>
void siluRow(const Stored* gate, const Stored* up, std::size_t width, Stored* out) {
    using Math = MathOf<Stored>;
    for (std::size_t i = 0; i < width; ++i) {
        const Math value = static_cast<Math>(gate[i]);
        out[i] =
            static_cast<Stored>(value / (Math(1) + std::exp(-value)) * static_cast<Math>(up[i]));
    }
}

/// out = gelu(gate) * up, GELU by its formula with tanh (arXiv 1606.08415). Shapes: all [width].
template <typename Stored>
void geluRow(const Stored* gate, const Stored* up, std::size_t width, Stored* out) {
    using Math = MathOf<Stored>;
    const Math factor = std::sqrt(Math(2) / std::numbers::pi_v<Math>);
    for (std::size_t i = 0; i < width; ++i) {
        const Math x = static_cast<Math>(gate[i]);
        const Math turned = factor * (x + static_cast<Math>(0.044715) * x * x * x);
        out[i] = static_cast<Stored>(x / Math(2) * (Math(1) + std::tanh(turned)) *
                                     static_cast<Math>(up[i]));
    }
}

/// cap * tanh(x / cap).
template <typename Math> Math softCapped(Math x, Math cap) { return cap * std::tanh(x / cap); }

/// |f(x)| / |x| for one row; 0 when the stream is 0. Shapes: both [width].
template <typename Stored>
double influenceOfRow(const Stored* added, const Stored* in, std::size_t width) {
    using Math = MathOf<Stored>;
    constexpr std::size_t kLanes = 8;
    std::array<Math, 2 * kLanes> lanes{}; // of the change, then of what was there
    for (std::size_t i = 0; i < width; ++i) {
        const Math change = static_cast<Math>(added[i]);
        const Math before = static_cast<Math>(in[i]);
        lanes[i % kLanes] += change * change;
        lanes[kLanes + i % kLanes] += before * before;
    }
    double change = 0;
    double before = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        change += static_cast<double>(lanes[lane]);
        before += static_cast<double>(lanes[kLanes + lane]);
    }
    return before > 0 ? std::sqrt(change / before) : 0.0;
}

/// True when none of the values is infinite or not a number.
template <typename Number> bool isFiniteRow(const Number* values, std::size_t width) {
    using Math = MathOf<Number>;
    // The product is zero for a finite number and not a number for any other: no branch a value.
    Math sum = 0;
    for (std::size_t i = 0; i < width; ++i)
        sum += static_cast<Math>(values[i]) * Math(0);
    return sum == Math(0);
}

} // namespace backend_torch
