// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/checks/model_checks.h"

#include "engine/base/to_size.h"
#include "plugins/trainer_torch/model/model_pass.h"
#include "plugins/trainer_torch/model/model_weights.h"
#include "plugins/trainer_torch/recipes/recipe_losses.h"
#include "plugins/trainer_torch/torch_calls.h"

#include <ATen/ops/empty.h>

#include <algorithm>

namespace trainer_torch {

using namespace engine;

namespace {

std::vector<double> wideNumbers(const at::Tensor& tensor) {
    const at::Tensor wide = tensor.detach().to(at::kDouble).contiguous();
    const auto* values = wide.const_data_ptr<double>();
    return {values, values + wide.numel()};
}

TensorMap tensorsOf(const ModelNumbers& model, at::ScalarType type) {
    ModelNumbers copy = model;
    return takeTensors(copy, type);
}

/// The start's tensors with the numbers that are wanted.
TensorMap trainedOf(const CheckedModel& model, const TensorMap& tensors) {
    TensorMap trained = trainedStart(model.plan, model.model.config, tensors);
    for (auto& [name, tensor] : trained) {
        const auto found = model.trained.find(name);
        ENGINE_CHECK(found != model.trained.end(), "no {}", name);
        at::Tensor wide = at::empty(tensor.sizes(), at::kDouble);
        ENGINE_CHECK(toSize(wide.numel()) == found->second.size(), "{} is of another size", name);
        std::copy(found->second.begin(), found->second.end(), wide.mutable_data_ptr<double>());
        tensor = wide.to(tensor.scalar_type());
    }
    return trained;
}

} // namespace

WideArrays checkedStart(const ModelTrainerPlan& plan, const ModelNumbers& model) {
    const TorchScope scope(1);
    WideArrays start;
    for (const auto& [name, tensor] :
         trainedStart(plan, model.config, tensorsOf(model, at::kDouble)))
        start.emplace(name, wideNumbers(tensor));
    return start;
}

CheckedRecipeLoss checkRecipeLoss(const CheckedModel& model,
                                  std::span<const TrainingText> texts,
                                  std::int64_t step,
                                  bool hasGradients) {
    const TorchScope scope(1);
    TensorMap tensors = tensorsOf(model.model, at::kDouble);
    TensorMap trained = trainedOf(model, tensors);
    if (hasGradients)
        for (auto& [name, tensor] : trained)
            tensor.set_requires_grad(true);
    const ModelNetwork network(model.model.config, std::move(tensors));
    const RowMaker rows(network.config(), ownMask(model.plan), at::kDouble);
    const RecipeLosses found =
        runRecipe({model.plan, network, rows, trained, model.keepsLayers ? kKeptBytes : 0.0},
                  texts,
                  step,
                  hasGradients);
    CheckedRecipeLoss losses{found.likelihood, found.drafting, found.total, {}};
    if (hasGradients)
        for (const auto& [name, tensor] : trained)
            losses.gradients.emplace(name,
                                     tensor.grad().defined()
                                         ? wideNumbers(tensor.grad())
                                         : std::vector<double>(toSize(tensor.numel())));
    return losses;
}

std::vector<double> checkModelLogits(const CheckedModel& model,
                                     std::span<const TokenId> tokens,
                                     int layers,
                                     bool isWide) {
    const TorchScope scope(1);
    const c10::NoGradGuard plainly;
    TensorMap tensors = tensorsOf(model.model, isWide ? at::kDouble : at::kFloat);
    const TensorMap trained = trainedOf(model, tensors);
    const ModelNetwork network(model.model.config, std::move(tensors));
    const RowMaker rows(network.config(), ownMask(model.plan), isWide ? at::kDouble : at::kFloat);
    const ModelRows made = rows.make(RowPlan(tokens));
    const ModelPass pass(network, trained, made, {}, false);
    return wideNumbers(network.logits(trained, pass.streamBehind(layers)));
}

} // namespace trainer_torch
