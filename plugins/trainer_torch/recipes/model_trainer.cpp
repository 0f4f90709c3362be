// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/recipes/model_trainer.h"

#include "engine/base/to_size.h"
#include "plugins/trainer_torch/model/model_weights.h"
#include "plugins/trainer_torch/network/plan_check.h"
#include "plugins/trainer_torch/optimised_trainer.h"
#include "plugins/trainer_torch/recipes/recipe_losses.h"
#include "plugins/trainer_torch/torch_calls.h"

#include <cmath>

namespace trainer_torch {

using namespace engine;

namespace {

class ModelTrainer final : public OptimisedTrainer {
public:
    ModelTrainer(const ModelTrainerPlan& plan, const ModelConfig& config, TensorMap tensors)
        : OptimisedTrainer(trainedStart(plan, config, tensors), plan.averaging, plan.threads)
        , m_plan(plan)
        , m_network(config, plan.isFull ? TensorMap() : std::move(tensors))
        , m_rows(m_network.config(), ownMask(plan), at::kFloat) {}

private:
    void check(std::span<const TrainingText> texts) const override {
        const ModelConfig& config = m_network.config();
        checkTexts(texts, config.hiddenSize, config.vocabSize);
    }

    RecipeWork work(const TensorMap& trained) const { return {m_plan, m_network, m_rows, trained}; }

    Result<std::optional<StepLosses>> addGradients(std::span<const TrainingText> texts,
                                                   const StepTerms& terms) override {
        RecipeWork stoppable = work(optimiser().weights());
        stoppable.stop = terms.stop;
        const RecipeLosses found = runRecipe(stoppable, texts, optimiser().steps(), true);
        if (terms.stop.stop_requested())
            return stoppedStep();
        if (found.rows == 0)
            return std::optional<StepLosses>();
        if (!std::isfinite(found.total))
            return notFinite("the loss");
        StepLosses losses;
        losses.likelihood = found.likelihood;
        losses.drafting = found.drafting;
        return std::optional(losses);
    }

    DraftHits judge(const TrainingText& text) const override {
        return judgeRecipe(work(optimiser().average()), text);
    }

    ModelTrainerPlan m_plan;
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
