// SPDX-License-Identifier: Apache-2.0
#include "engine/base/to_size.h"
#include "plugins/trainer_torch/checks/model_checks.h"
#include "plugins/trainer_torch/network/draft_block.h"
#include "plugins/trainer_torch/rows/pack_tensors.h"
#include "plugins/trainer_torch/torch_calls.h"
#include "plugins/trainer_torch/training_loss.h"

#include <ATen/ops/empty.h>

#include <algorithm>

namespace trainer_torch {

using namespace engine;

namespace {

TensorMap tensorsOf(const CheckedNetwork& network, at::ScalarType type) {
    TensorMap tensors;
    for (const auto& [name, shape] : weightShapes(network.plan.sizes)) {
        const std::vector<double>& values = network.weights.find(name)->second;
        at::Tensor wide = at::empty(shape, at::kDouble);
        ENGINE_CHECK(toSize(wide.numel()) == values.size(), "{} has {}", name, values.size());
        std::copy(values.begin(), values.end(), wide.mutable_data_ptr<double>());
        tensors.emplace(name, wide.to(type));
    }
    return tensors;
}

std::vector<double> numbersOf(const at::Tensor& tensor) {
    const at::Tensor wide = tensor.to(at::kDouble).contiguous();
    const auto* values = wide.const_data_ptr<double>();
    return {values, values + wide.numel()};
}

PackTerms packTerms(const DraftSizes& sizes, int depths) {
    return {.depths = depths, .layers = sizes.layerCount, .window = sizes.window};
}

CheckedLoss checkLoss(const CheckedNetwork& network,
                      std::span<const TrainingText> texts,
                      const StepTerms& terms,
                      bool hasGradients) {
    const TorchScope scope(1);
    const c10::AutoGradMode recording(hasGradients);
    const DraftSizes& sizes = network.plan.sizes;
    const int depths = network.plan.unroll;
    const FrozenModel frozen = freeze(network.plan, network.model, at::kDouble);
    const PackReader reader(sizes, frozen);
    const DraftBlock block(sizes, frozen, at::kDouble);
    TensorMap weights = tensorsOf(network, at::kDouble);
    if (hasGradients)
        for (auto& [name, weight] : weights)
            weight.set_requires_grad(true);
    const std::vector<Pack> packs = packRows(texts, packTerms(sizes, depths));
    const auto counted = rowWeights(network.plan, chainTotals(packs, depths));
    CheckedLoss found;
    for (const Pack& pack : packs) {
        const PackLoss loss = packLoss(
            block, weights, reader.read(pack, texts, depths), counted, terms, sizes.normEpsilon);
        found.likelihood += loss.likelihood.item<double>();
        found.overlap += loss.overlap.item<double>();
        found.stream += loss.stream.item<double>();
        found.total += loss.total.item<double>();
        if (hasGradients)
            loss.total.backward();
    }
    if (hasGradients)
        for (const auto& [name, weight] : weights)
            found.gradients.emplace(name, numbersOf(weight.grad()));
    return found;
}

std::vector<DepthLogits>
checkLogits(const CheckedNetwork& network, const TrainingText& text, bool isWide) {
    const TorchScope scope(1);
    const c10::NoGradGuard plainly;
    const at::ScalarType type = isWide ? at::kDouble : at::kFloat;
    const DraftSizes& sizes = network.plan.sizes;
    const FrozenModel frozen = freeze(network.plan, network.model, type);
    const PackReader reader(sizes, frozen);
    const DraftBlock block(sizes, frozen, type);
    const BlockWeights weights = block.prepare(tensorsOf(network, type));
    const std::span<const TrainingText> texts(&text, 1);
    std::vector<DepthLogits> depths(toSize(kDepths));
    for (const Pack& pack : packRows(texts, packTerms(sizes, kDepths))) {
        const auto streams = block.unroll(weights, reader.read(pack, texts, kDepths));
        for (std::size_t depth = 0; depth < streams.size(); ++depth) {
            for (std::int64_t row = 0; row < streams[depth].size(0); ++row)
                depths[depth].behind.push_back(pack.slotOf(pack.chains[toSize(row)]).slot);
            const auto found = numbersOf(block.logits(weights, streams[depth]));
            depths[depth].logits.insert(depths[depth].logits.end(), found.begin(), found.end());
        }
    }
    return depths;
}

} // namespace

} // namespace trainer_torch

extern "C" __attribute__((visibility("default"))) void
swiftStudioGiveTrainerChecks(trainer_torch::TrainerChecks* checks) {
    *checks = {&trainer_torch::checkLoss,
               &trainer_torch::checkLogits,
               &trainer_torch::checkedStart,
               &trainer_torch::checkRecipeLoss,
               &trainer_torch::checkModelLogits};
}
