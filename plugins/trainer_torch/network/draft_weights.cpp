// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/network/draft_weights.h"

#include "engine/base/counter_random.h"
#include "engine/base/to_size.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trainer_torch {

using namespace engine;

namespace {

constexpr double kInputNoise = 0.01;
constexpr double kLayerNoise = 0.5; // times 1 / sqrt(inputs)
constexpr std::string_view kFirstLayer = "layer.0.";

std::size_t countOf(const std::vector<std::int64_t>& shape) {
    std::size_t count = 1;
    for (const std::int64_t size : shape)
        count *= toSize(size);
    return count;
}

bool hasLastLayer(const TrainerModel& model,
                  const std::map<std::string, std::vector<std::int64_t>>& shapes) {
    return std::all_of(shapes.begin(), shapes.end(), [&](const auto& each) {
        if (!each.first.starts_with(kFirstLayer))
            return true;
        const auto found = model.lastLayer.find(each.first);
        return found != model.lastLayer.end() && found->second.size() == countOf(each.second);
    });
}

} // namespace

double normalNoise(std::uint64_t seed, std::uint64_t place, int tensor) {
    const double radius = std::sqrt(-2.0 * std::log(counterUniform(seed, place, 2 * tensor)));
    return radius * std::cos(2.0 * std::numbers::pi * counterUniform(seed, place, 2 * tensor + 1));
}

std::map<std::string, std::vector<std::int64_t>> weightShapes(const DraftSizes& sizes) {
    std::map<std::string, std::vector<std::int64_t>> shapes;
    for (const auto& [network, tensor] : adapterTensors(sizes))
        shapes[tensor.name].assign(tensor.shape.begin(), tensor.shape.end());
    return shapes;
}

bool isNorm(std::string_view name) {
    return name.starts_with("norm.") || name.find(".norm.") != std::string_view::npos;
}

TensorMap initialWeights(const TrainerPlan& plan, const TrainerModel& model) {
    const auto shapes = weightShapes(plan.sizes);
    const bool isCopied = hasLastLayer(model, shapes);
    const std::size_t width = toSize(plan.sizes.hiddenSize);
    TensorMap weights;
    int number = 0;
    for (const auto& [name, shape] : shapes) {
        at::Tensor tensor = at::empty(shape, at::kFloat);
        auto* values = tensor.mutable_data_ptr<float>();
        const std::size_t count = countOf(shape);
        const auto fillWithNoise = [&](double size) {
            for (std::size_t i = 0; i < count; ++i)
                values[i] = static_cast<float>(size * normalNoise(plan.seed, i, number));
        };
        if (const auto given = plan.start.find(name); given != plan.start.end()) {
            std::copy(given->second.begin(), given->second.end(), values);
        } else if (name == "norm.out") {
            std::copy(model.finalNorm.begin(), model.finalNorm.end(), values);
        } else if (isCopied && name.starts_with(kFirstLayer)) {
            const std::vector<float>& from = model.lastLayer.find(name)->second;
            std::copy(from.begin(), from.end(), values);
        } else if (isNorm(name)) {
            std::fill_n(values, count, 1.0F);
        } else if (name == "in.weight") {
            fillWithNoise(kInputNoise);
            for (std::size_t i = 0; i < width; ++i)
                values[i * 2 * width + i] += 1.0F;
        } else {
            fillWithNoise(kLayerNoise / std::sqrt(static_cast<double>(shape.back())));
        }
        weights.emplace(name, std::move(tensor));
        ++number;
    }
    return weights;
}

} // namespace trainer_torch
