// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/recipes/model_trainer.h"

#include "engine/base/to_size.h"
#include "plugins/trainer_torch/adamw.h"
#include "plugins/trainer_torch/model/model_weights.h"
#include "plugins/trainer_torch/network/plan_check.h"
#include "plugins/trainer_torch/recipes/recipe_losses.h"
#include "plugins/trainer_torch/torch_calls.h"

#include <cmath>

namespace trainer_torch {

using namespace engine;

namespace {

class ModelTrainer final : public Trainer {
public:
    ModelTrainer(const ModelTrainerPlan& plan, const ModelConfig& config, TensorMap tensors)
        : m_plan(plan)
        , m_optimiser(trainedStart(plan, config, tensors), plan.averaging)
        , m_network(config, plan.isFull ? TensorMap() : std::move(tensors))
        , m_rows(m_network.config(), ownMask(plan), at::kFloat) {}

    Result<StepLosses> step(std::span<const TrainingText> texts, const StepTerms& terms) override {
        check(texts);
        return guarded([&]() -> Result<StepLosses> {
            const TorchScope scope(m_plan.threads);
            m_optimiser.clearGradients();
            auto losses = runStep(texts, terms);
            m_optimiser.clearGradients(); // gives their memory back
            return losses;
        });
    }

    Result<DraftHits> evaluate(const TrainingText& text) override {
        check(std::span(&text, 1));
        return guarded([&]() -> Result<DraftHits> {
            const TorchScope scope(m_plan.threads);
            return judgeRecipe(work(m_optimiser.average()), text);
        });
    }

    NamedArrays state() const override { return m_optimiser.state(); }

    Result<void> restore(const NamedArrays& state) override {
        return guarded([&] { return m_optimiser.restore(state); });
    }

    NamedArrays result() const override { return m_optimiser.averageArrays(); }

private:
    void check(std::span<const TrainingText> texts) const {
        const ModelConfig& config = m_network.config();
        checkTexts(texts, config.hiddenSize, config.vocabSize);
    }

    RecipeWork work(const TensorMap& trained) const { return {m_plan, m_network, m_rows, trained}; }

    Result<StepLosses> runStep(std::span<const TrainingText> texts, const StepTerms& terms) {
        RecipeWork stoppable = work(m_optimiser.weights());
        stoppable.stop = terms.stop;
        const RecipeLosses found = runRecipe(stoppable, texts, m_optimiser.steps(), true);
        if (terms.stop.stop_requested())
            return stoppedStep();
        StepLosses losses;
        if (found.rows == 0)
            return losses;
        if (!std::isfinite(found.total))
            return notFinite("the loss");
        losses.likelihood = found.likelihood;
        losses.drafting = found.drafting;
        losses.gradientNorm = m_optimiser.gradientNorm();
        if (!std::isfinite(losses.gradientNorm))
            return notFinite("the gradient");
        m_optimiser.step(terms.rate, losses.gradientNorm);
        return losses;
    }

    ModelTrainerPlan m_plan;
    AdamW m_optimiser;
    ModelNetwork m_network;
    RowMaker m_rows;
};

} // namespace

Result<std::unique_ptr<Trainer>> makeModelTrainer(const ModelTrainerPlan& plan,
                                                  ModelNumbers model) {
    ENGINE_TRY_DO(checkModelPlan(plan, model.config));
    return guarded([&]() -> Result<std::unique_ptr<Trainer>> {
        const TorchScope scope(plan.threads);
        TensorMap tensors = takeTensors(model, at::kFloat);
        return std::unique_ptr<Trainer>(
            std::make_unique<ModelTrainer>(plan, model.config, std::move(tensors)));
    });
}

} // namespace trainer_torch
