// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/tuning/trainer.h"
#include "plugins/trainer_torch/network/draft_weights.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace trainer_torch {

/// Weights, and what the optimiser keeps of each: AdamW with moments of .9 and .95, decay .01 of
/// all but norms, gradients clipped to a norm of 1, and a moving average of the weights. Source:
/// arXiv 1711.05101.
class AdamW {
public:
    /// `averaging` is the part of the average that each step keeps; early steps keep less, so that
    /// the start is soon forgotten: at most (1 + n) / (10 + n) behind n steps.
    AdamW(TensorMap start, double averaging);

    /// With gradients recorded.
    const TensorMap& weights() const { return m_weights; }

    const TensorMap& average() const { return m_average; }

    /// That were made so far.
    std::int64_t steps() const { return m_steps; }

    void clearGradients();

    /// Of all gradients together; not finite if one of them is not.
    double gradientNorm() const;

    /// One step with the gradients that are there, whose norm this is.
    void step(double rate, double norm);

    /// See engine::Trainer::state(), restore() and result().
    engine::NamedArrays state() const;
    engine::Result<void> restore(const engine::NamedArrays& state);
    engine::NamedArrays averageArrays() const;

private:
    /// What a state has of each tensor: the beginning of its name there, and the tensors.
    struct Kind {
        std::string_view prefix;
        const TensorMap* tensors;
    };

    std::array<Kind, 4> kinds() const;

    double m_averaging;
    std::int64_t m_steps = 0;
    TensorMap m_weights;
    TensorMap m_first;  // moments
    TensorMap m_second; // of squares
    TensorMap m_average;
};

} // namespace trainer_torch
