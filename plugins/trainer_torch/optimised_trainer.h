// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/trainer_torch/adamw.h"

#include <optional>
#include <span>
#include <utility>

namespace trainer_torch {

/// What all recipes have in common: steps of the optimiser around the gradients of their losses.
class OptimisedTrainer : public engine::Trainer {
public:
    engine::Result<engine::StepLosses> step(std::span<const engine::TrainingText> texts,
                                            const engine::StepTerms& terms) final;
    engine::Result<engine::DraftHits> evaluate(const engine::TrainingText& text) final;

    engine::NamedArrays state() const final { return m_optimiser.state(); }

    engine::Result<void> restore(const engine::NamedArrays& state) final;

    engine::NamedArrays result() const final { return m_optimiser.averageArrays(); }

protected:
    /// As AdamW.
    OptimisedTrainer(TensorMap start, double averaging, int threads)
        : m_optimiser(std::move(start), averaging)
        , m_threads(threads) {}

    const AdamW& optimiser() const { return m_optimiser; }

    /// Texts that the model cannot read are a bug (ENGINE_CHECK).
    virtual void check(std::span<const engine::TrainingText> texts) const = 0;

    /// The losses of a step, whose gradients are added to those of the weights; none where nothing
    /// is to be trained. Errors: as Trainer::step.
    virtual engine::Result<std::optional<engine::StepLosses>>
    addGradients(std::span<const engine::TrainingText> texts, const engine::StepTerms& terms) = 0;

    /// With the averaged weights; no gradients are recorded.
    virtual engine::DraftHits judge(const engine::TrainingText& text) const = 0;

private:
    engine::Result<engine::StepLosses> runStep(std::span<const engine::TrainingText> texts,
                                               const engine::StepTerms& terms);

    AdamW m_optimiser;
    int m_threads;
};

} // namespace trainer_torch
