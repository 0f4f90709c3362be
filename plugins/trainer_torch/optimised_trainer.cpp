// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/optimised_trainer.h"

#include "plugins/trainer_torch/torch_calls.h"

#include <cmath>

namespace trainer_torch {

using namespace engine;

Result<StepLosses> OptimisedTrainer::step(std::span<const TrainingText> texts,
                                          const StepTerms& terms) {
    check(texts);
    return guarded([&]() -> Result<StepLosses> {
        const TorchScope scope(m_threads);
        m_optimiser.clearGradients();
        auto losses = runStep(texts, terms);
        m_optimiser.clearGradients(); // gives their memory back
        return losses;
    });
}

Result<StepLosses> OptimisedTrainer::runStep(std::span<const TrainingText> texts,
                                             const StepTerms& terms) {
    ENGINE_TRY(const std::optional<StepLosses> found, addGradients(texts, terms));
    if (!found)
        return StepLosses();
    StepLosses losses = *found;
    losses.gradientNorm = m_optimiser.gradientNorm();
    if (!std::isfinite(losses.gradientNorm))
        return notFinite("the gradient");
    m_optimiser.step(terms.rate, losses.gradientNorm);
    return losses;
}

Result<DraftHits> OptimisedTrainer::evaluate(const TrainingText& text) {
    check(std::span(&text, 1));
    return guarded([&]() -> Result<DraftHits> {
        const TorchScope scope(m_threads);
        const c10::NoGradGuard plainly;
        return judge(text);
    });
}

Result<void> OptimisedTrainer::restore(const NamedArrays& state) {
    return guarded([&] { return m_optimiser.restore(state); });
}

} // namespace trainer_torch
