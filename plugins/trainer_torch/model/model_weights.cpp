// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/model/model_weights.h"

#include "engine/base/to_size.h"
#include "engine/loading/network/network_tensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

namespace trainer_torch {

using namespace engine;

namespace {

/// Number of the embedding's noise; those of linear layers follow.
constexpr int kMaskNoise = 0;

at::Tensor noise(std::vector<std::int64_t> shape, double size, std::uint64_t seed, int number) {
    at::Tensor made = at::empty(shape, at::kDouble);
    auto* values = made.mutable_data_ptr<double>();
    for (std::int64_t i = 0; i < made.numel(); ++i)
        values[i] = size * normalNoise(seed, static_cast<std::uint64_t>(i), number);
    return made;
}

at::Tensor maskNoise(const ModelTrainerPlan& plan, const at::Tensor& embedding) {
    const double size = std::sqrt(embedding.to(at::kDouble).square().mean().item<double>());
    return noise({embedding.size(1)}, size, plan.seed, kMaskNoise).to(embedding.scalar_type());
}

TensorMap fullStart(const ModelTrainerPlan& plan, const TensorMap& tensors) {
    TensorMap trained;
    for (const auto& [name, tensor] : tensors)
        trained.emplace(name, tensor.clone());
    if (plan.recipe == TuningRecipe::Space) {
        at::Tensor& embedding = trained.find("model.embed_tokens.weight")->second;
        embedding.select(0, plan.maskToken).copy_(maskNoise(plan, embedding));
    }
    return trained;
}

} // namespace

TokenId ownMask(const ModelTrainerPlan& plan) {
    return plan.recipe == TuningRecipe::Space ? plan.maskToken : kNoToken;
}

TensorMap takeTensors(ModelNumbers& numbers, at::ScalarType type) {
    std::map<std::string, std::vector<std::int64_t>> shapes;
    forEachTensor(numbers.config, [&](const TensorSpec& spec) {
        const auto shape = spec.shape();
        shapes[spec.weightName()].assign(shape.begin(), shape.end());
        if (spec.hasBias)
            shapes[spec.biasName()] = {spec.outputs};
    });
    TensorMap made;
    for (const auto& [name, shape] : shapes) {
        const auto found = numbers.tensors.find(name);
        ENGINE_CHECK(found != numbers.tensors.end(), "no tensor {}", name);
        at::Tensor tensor = at::empty(shape, at::kFloat);
        ENGINE_CHECK(found->second.size() == toSize(tensor.numel()),
                     "{} has {} numbers",
                     name,
                     found->second.size());
        std::copy(found->second.begin(), found->second.end(), tensor.mutable_data_ptr<float>());
        numbers.tensors.erase(found);
        made.emplace(name, tensor.to(type));
    }
    return made;
}

TensorMap
trainedStart(const ModelTrainerPlan& plan, const ModelConfig& config, const TensorMap& tensors) {
    if (plan.isFull)
        return fullStart(plan, tensors);
    TensorMap trained;
    int number = kMaskNoise + 1;
    for (int layer = 0; layer < config.layerCount; ++layer)
        for (const TensorSpec& spec : layerTensors(config, layer)) {
            if (spec.isNorm())
                continue;
            const at::ScalarType type = tensors.find(spec.weightName())->second.scalar_type();
            const double size = 1.0 / std::sqrt(static_cast<double>(spec.inputs));
            trained.emplace(spec.name + kLoraDown,
                            noise({plan.rank, spec.inputs}, size, plan.seed, number++).to(type));
            trained.emplace(spec.name + kLoraUp, at::zeros({spec.outputs, plan.rank}, type));
        }
    if (plan.recipe == TuningRecipe::Space)
        trained.emplace(kMaskEmbedding,
                        maskNoise(plan, tensors.find("model.embed_tokens.weight")->second));
    return trained;
}

} // namespace trainer_torch
